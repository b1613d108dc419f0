import type { FaultName } from '../request/faults.js';
import { RequestLog } from './log.js';
import type { SimulatorOptions } from './options.js';
import type { Overrides } from '../request/overrides.js';
import { PrefixCache } from './prefix-cache.js';
import { Random } from '../random.js';
import { Readings } from './reading.js';
import { Slots } from './slots.js';

/** Counts since the start or the last clearing of the log. */
export interface Stats {
  readonly inFlight: number;
  readonly queued: number;
  readonly peakInFlight: number;
  /** Answers that were sent whole. */
  readonly served: number;
  /** Refused by their own fault or because the queue was full. */
  readonly refused: number;
  /** Broken or refused by an injected fault. */
  readonly faults: number;
  readonly cancelled: number;
}

/** What all requests of one simulator share. */
export class Simulation {
  readonly log: RequestLog;
  readonly cache: PrefixCache | undefined;
  readonly slots: Slots;
  readonly counts = { served: 0, refused: 0, fault: 0, cancelled: 0 };
  readonly readings: Readings;
  /** Set while stopping, when closed connections say nothing about clients. */
  isStopping = false;
  readonly #failures: Random;
  readonly #idPrefix = `chatcmpl-${Math.floor(Math.random() * 36 ** 8)
    .toString(36)
    .padStart(8, '0')}`;
  #nextId = 0;
  #defaults: Overrides = {};
  #defaultsLeft = Number.POSITIVE_INFINITY;

  constructor(readonly options: SimulatorOptions) {
    this.log = new RequestLog(options.logRequests, options.logBodyChars);
    this.cache = options.prefixCache
      ? new PrefixCache(options.cacheBlocks, options.cacheMinTokens)
      : undefined;
    this.readings = new Readings(options);
    this.slots = new Slots(options.maxParallel, options.maxQueue);
    this.#failures = new Random(options.seed);
  }

  /** An id that no other request has, of this or another simulator. */
  newId(): string {
    return `${this.#idPrefix}${(this.#nextId++).toString(36).padStart(6, '0')}`;
  }

  /** Replaces what requests ask for by default, for the next `count` requests. */
  setDefaults(defaults: Overrides, count: number): void {
    this.#defaults = defaults;
    this.#defaultsLeft = count;
  }

  /** The defaults of one request, which uses one of their count up. */
  takeDefaults(): Overrides {
    if (this.#defaultsLeft <= 0) return {};
    this.#defaultsLeft--;
    return this.#defaults;
  }

  /** The defaults that the next request will get. */
  peekDefaults(): Overrides {
    return this.#defaultsLeft > 0 ? this.#defaults : {};
  }

  /** The faults that chance brings on one request, by the order of arrival. */
  randomFaults(): FaultName[] {
    const { failRate, failFaults } = this.options;
    if (failRate === 0 || this.#failures.next() >= failRate) return [];
    return [this.#failures.pick(failFaults)];
  }

  stats(): Stats {
    const { slots, counts } = this;
    return {
      inFlight: slots.used,
      queued: slots.queued,
      peakInFlight: slots.peak,
      served: counts.served,
      refused: counts.refused,
      faults: counts.fault,
      cancelled: counts.cancelled,
    };
  }

  /** Empties both logs and starts the counts anew. */
  clear(): void {
    this.log.clear();
    this.slots.resetPeak();
    Object.assign(this.counts, { served: 0, refused: 0, fault: 0, cancelled: 0 });
  }
}
