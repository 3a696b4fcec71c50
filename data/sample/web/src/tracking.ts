import { ApiClient, ApiError, TrackingEvent } from "./api";
import { pause } from "./timing";

const FINAL_STATES = new Set<TrackingEvent["status"]>(["delivered", "failed"]);

/** The newest event decides what we tell the recipient. */
export function latestEvent(events: TrackingEvent[]): TrackingEvent | undefined {
  return [...events].sort((a, b) => b.at.localeCompare(a.at))[0];
}

export function isFinished(events: TrackingEvent[]): boolean {
  const newest = latestEvent(events);
  return newest !== undefined && FINAL_STATES.has(newest.status);
}

/**
 * Ask the gateway again and again until the shipment has reached its end,
 * yielding each fresh history. Stops early when the signal is aborted.
 */
export async function* pollTracking(
  client: ApiClient,
  parcelId: string,
  signal: AbortSignal,
  everyMs = 15000,
): AsyncGenerator<TrackingEvent[]> {
  while (!signal.aborted) {
    try {
      const events = await client.fetchTracking(parcelId, signal);
      yield events;
      if (isFinished(events)) return;
    } catch (error) {
      if (!(error instanceof ApiError) || !error.isTransient()) throw error;
    }
    await pause(everyMs);
  }
}
