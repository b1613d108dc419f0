import { lookup } from 'node:dns/promises';

/**
 * The addresses of a name. Each has the same position as long as it exists; a position may be free.
 */
export type PodSlots = readonly (string | undefined)[];

const LOOKUP_MS = 5_000;

/** A name that no model has had for this long is no longer looked up. */
const UNUSED_MS = 600_000;

/** The error code if a name has no addresses; after all others the known ones remain. */
const NO_ADDRESS = 'ENOTFOUND';

const NONE: PodSlots = [];

interface Host {
  slots: PodSlots;
  usedAtMs: number;
  isLookingUp: boolean;
}

const addressesOf = async (host: string): Promise<string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/**
 * The pods of headless services: the addresses of their names, looked up every five seconds. The resolver has
 * a deadline of its own, and a name has one lookup at a time, since a lookup cannot be ended.
 */
export class PodAddresses {
  private readonly hosts = new Map<string, Host>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly find: (host: string) => Promise<readonly string[]> = addressesOf,
    private readonly everyMs = LOOKUP_MS,
  ) {}

  /** None until the first lookup has ended, and while the name has none. */
  of(hostname: string): PodSlots {
    const host = this.hosts.get(hostname) ?? this.watch(hostname);
    host.usedAtMs = performance.now();
    return host.slots;
  }

  close(): void {
    clearInterval(this.timer);
  }

  private watch(hostname: string): Host {
    const host = { slots: NONE, usedAtMs: performance.now(), isLookingUp: false };
    this.hosts.set(hostname, host);
    this.timer ??= setInterval(() => this.refresh(), this.everyMs).unref();
    // It never rejects.
    void this.lookUp(hostname, host);
    return host;
  }

  private refresh(): void {
    const nowMs = performance.now();
    for (const [hostname, host] of this.hosts) {
      if (nowMs - host.usedAtMs > UNUSED_MS) this.hosts.delete(hostname);
      // It never rejects.
      else void this.lookUp(hostname, host);
    }
  }

  private async lookUp(hostname: string, host: Host): Promise<void> {
    if (host.isLookingUp) return;
    host.isLookingUp = true;
    try {
      host.slots = placed(host.slots, await this.find(hostname));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === NO_ADDRESS) host.slots = NONE;
    } finally {
      host.isLookingUp = false;
    }
  }
}

/**
 * Each known address keeps its position, and new ones get the first free positions. So pods that come and go
 * use few names. The same array if nothing has changed.
 */
export function placed(before: PodSlots, found: readonly string[]): PodSlots {
  const there = new Set(found);
  const slots = before.map((address) => (address !== undefined && there.has(address) ? address : undefined));
  for (const address of there) {
    if (slots.includes(address)) continue;
    const free = slots.indexOf(undefined);
    slots[free < 0 ? slots.length : free] = address;
  }
  while (slots.length > 0 && slots.at(-1) === undefined) slots.pop();
  const isSame = slots.length === before.length && slots.every((address, at) => address === before[at]);
  return isSame ? before : slots;
}
