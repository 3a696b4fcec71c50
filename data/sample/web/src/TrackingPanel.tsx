import React, { useEffect, useState } from "react";
import { ApiClient, TrackingEvent } from "./api";
import { ellipsis, relativeTime } from "./format";
import { latestEvent, pollTracking } from "./tracking";

interface Props {
  client: ApiClient;
  parcelId: string;
}

/** Keep the scan history of one shipment up to date while mounted. */
export function useTracking(client: ApiClient, parcelId: string): TrackingEvent[] {
  const [events, setEvents] = useState<TrackingEvent[]>([]);

  useEffect(() => {
    const controller = new AbortController();

    async function follow() {
      for await (const fresh of pollTracking(client, parcelId, controller.signal)) {
        setEvents(fresh);
      }
    }

    follow().catch((error) => console.warn("tracking stopped", error));
    return () => controller.abort();
  }, [client, parcelId]);

  return events;
}

const StatusBadge = ({ status }: { status: TrackingEvent["status"] }) => (
  <span className={`badge badge-${status}`}>{status.replace(/_/g, " ")}</span>
);

/** The box on the tracking page: current state on top, history below. */
export function TrackingPanel({ client, parcelId }: Props) {
  const events = useTracking(client, parcelId);
  const newest = latestEvent(events);
  return (
    <section aria-live="polite">
      <h2>Parcel {ellipsis(parcelId)}</h2>
      {newest ? <StatusBadge status={newest.status} /> : <p>Waiting for the first scan</p>}
      <ol>
        {events.map((event) => (
          <li key={event.at}>
            {event.depot ?? "on the road"}, {relativeTime(new Date(event.at))}
          </li>
        ))}
      </ol>
    </section>
  );
}
