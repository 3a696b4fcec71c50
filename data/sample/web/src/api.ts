/** Thin client for the parcelworks gateway. */

export interface TrackingEvent {
  at: string;
  status: "accepted" | "in_transit" | "out_for_delivery" | "delivered" | "failed";
  depot?: string;
}

/** Raised when the gateway answers with an error body. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = "ApiError";
  }

  /** Whether asking again later has a chance of working. */
  isTransient(): boolean {
    return this.status === 429 || this.status >= 500;
  }
}

/**
 * Join a caller's AbortSignal with a time limit, so that a request ends on
 * whichever comes first: the user leaves the page, or the clock runs out.
 */
export function withDeadline(signal: AbortSignal | undefined, milliseconds: number): AbortSignal {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error("deadline")), milliseconds);
  const cancel = () => {
    clearTimeout(timer);
    controller.abort(signal?.reason);
  };
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  return controller.signal;
}

export class ApiClient {
  constructor(
    private readonly baseUrl: string,
    private readonly session: () => string,
  ) {}

  /** Load the scan history of a shipment. */
  async fetchTracking(parcelId: string, signal?: AbortSignal): Promise<TrackingEvent[]> {
    return this.request<TrackingEvent[]>("GET", `/v1/parcels/${encodeURIComponent(parcelId)}/events`, {
      signal,
    });
  }

  async submitOrder(body: unknown, idempotencyKey: string): Promise<{ id: string }> {
    return this.request("POST", "/v1/orders", {
      body: JSON.stringify(body),
      headers: { "X-Parcelworks-Idempotency": idempotencyKey },
    });
  }

  private async request<T>(method: string, path: string, init: RequestInit): Promise<T> {
    const response = await fetch(this.baseUrl + path, {
      ...init,
      method,
      headers: { ...init.headers, "X-Parcelworks-Session": this.session() },
      signal: withDeadline(init.signal ?? undefined, 8000),
    });
    if (!response.ok) {
      throw await toApiError(response);
    }
    return (await response.json()) as T;
  }
}

async function toApiError(response: Response): Promise<ApiError> {
  const body = await response.json().catch(() => ({}));
  return new ApiError(response.status, body.code ?? "PW-5000", body.message ?? response.statusText);
}
