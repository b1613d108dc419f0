import type { Admission, AdmitRequest } from '@svc/contracts/ports';
import { PassingMap } from '@svc/runtime';

/** Maximum number of remembered requests. Beyond it, locally admitted requests are never booked. */
const MAX_REMEMBERED = 10_000;

/** Bookings sent in parallel. */
const AT_ONCE = 100;

/** The pause after a failed booking while the shared count otherwise works. */
const RETRY_MS = 200;

/** A request admitted by this process alone, until the shared count has booked it and it has ended. */
interface Booking {
  readonly request: AdmitRequest;
  /** After this it need not be booked: its lease is over. */
  lapsesAtMs: number;
  /** The shared count's response to the booking. */
  booked?: Admission;
  /** Ends it in the shared count. */
  end?: (booked: Admission) => Promise<void>;
  isSent: boolean;
}

type Book = (request: AdmitRequest) => Promise<Admission | undefined>;

/**
 * Books locally admitted requests in the shared count, so that a window's total is right again as soon as the
 * shared count can be reached.
 */
export class Bookings {
  private readonly open = new PassingMap<string, Booking>();
  private isBooking = false;

  constructor(
    private readonly book: Book,
    private readonly leaseMs: number,
  ) {}

  add(request: AdmitRequest, { endsAtMs }: Admission): void {
    if (this.open.size >= MAX_REMEMBERED) this.dropLapsed();
    if (this.open.size >= MAX_REMEMBERED) return;
    const { bookedEndsAtMs = endsAtMs } = request;
    const lapsesAtMs = performance.now() + this.leaseMs;
    this.open.set(request.requestId, {
      request: { ...request, bookedEndsAtMs },
      lapsesAtMs,
      isSent: false,
    });
  }

  has(requestId: string): boolean {
    return this.open.has(requestId);
  }

  /** Renews a running request. Returns the shared count's response, once that has booked it. */
  renew(requestId: string): Admission | undefined {
    const booking = this.open.get(requestId);
    if (booking) booking.lapsesAtMs = performance.now() + this.leaseMs;
    return booking?.booked;
  }

  /** Ends a request in the shared count too: now, or once it is booked. */
  async end(requestId: string, end: (booked: Admission) => Promise<void>): Promise<void> {
    const booking = this.open.get(requestId);
    if (!booking || booking.end) return;
    booking.end = end;
    await this.finish(booking);
  }

  /**
   * Books everything not yet booked at the time of the call. Rejects if the shared count does not respond.
   */
  async bookAll(): Promise<void> {
    this.dropLapsed();
    const unbooked = this.unbooked();
    for (let from = 0; from < unbooked.length; from += AT_ONCE)
      await Promise.all(unbooked.slice(from, from + AT_ONCE).map((booking) => this.send(booking)));
  }

  /** Books in the background until nothing is left, or `isOver`. */
  async bookOn(isOver: () => boolean): Promise<void> {
    if (this.isBooking) return;
    this.isBooking = true;
    while (!isOver() && this.unbooked().length > 0) {
      await this.bookAll().catch(() => new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref()));
    }
    this.isBooking = false;
  }

  private unbooked(): Booking[] {
    return Array.from(this.open.values()).filter(({ booked, isSent }) => !booked && !isSent);
  }

  private async send(booking: Booking): Promise<void> {
    booking.isSent = true;
    try {
      const booked = await this.book(booking.request);
      if (!booked) throw new Error('the shared count does not respond');
      booking.booked = booked;
      await this.finish(booking);
    } finally {
      booking.isSent = false;
    }
  }

  private async finish({ request, booked, end }: Booking): Promise<void> {
    if (!booked || !end) return;
    this.open.delete(request.requestId);
    await end(booked);
  }

  private dropLapsed(): void {
    const nowMs = performance.now();
    for (const [requestId, { lapsesAtMs }] of this.open) if (lapsesAtMs <= nowMs) this.open.delete(requestId);
  }
}
