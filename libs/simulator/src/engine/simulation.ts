import { SimulatedEnclave } from '../enclave/enclave.js';
import type { FaultName } from '../request/faults.js';
import { RequestLog } from './log.js';
import type { SimulatorOptions } from './options.js';
import type { Overrides } from '../request/overrides.js';
import { type EngineState, prefillMs } from './pace.js';
import { SerialPrefill } from './prefill.js';
import { PrefixCache } from './prefix-cache.js';
import type { Prompt } from '../request/prompt.js';
import { Random } from '../random.js';
import { Readings } from './reading.js';
import { Slots } from './slots.js';

/** Counts since the start or since the log was last cleared. */
export interface Stats {
  readonly inFlight: number;
  readonly queued: number;
  readonly peakInFlight: number;
  /** Responses sent completely. */
  readonly served: number;
  /** Rejected for their own fault or because the queue was full. */
  readonly refused: number;
  /** Broken or rejected by an injected fault. */
  readonly faults: number;
  readonly cancelled: number;
}

/** The shared state of all requests of one simulator. */
export class Simulation {
  readonly log: RequestLog;
  readonly cache: PrefixCache | undefined;
  readonly slots: Slots;
  readonly counts = { served: 0, refused: 0, fault: 0, cancelled: 0 };
  readonly readings: Readings;
  private readonly prefill: SerialPrefill | undefined;
  readonly enclave: SimulatedEnclave;
  /** Set while stopping, when closed connections are not cancellations. */
  isStopping = false;
  private readonly failures: Random;
  private readonly idPrefix = `chatcmpl-${Math.floor(Math.random() * 36 ** 8)
    .toString(36)
    .padStart(8, '0')}`;
  private nextId = 0;
  private defaults: Overrides = {};
  private defaultsLeft = Number.POSITIVE_INFINITY;

  constructor(readonly options: SimulatorOptions) {
    this.log = new RequestLog(options.logRequests, options.logBodyChars);
    this.cache = options.prefixCache
      ? new PrefixCache(options.cacheBlocks, options.cacheMinTokens)
      : undefined;
    this.prefill = options.serialPrefill ? new SerialPrefill() : undefined;
    this.readings = new Readings(options);
    this.enclave = new SimulatedEnclave(options.teeLookalike);
    this.slots = new Slots(options.maxParallel, options.maxQueue);
    this.failures = new Random(options.seed);
  }

  /** An id that no other request has, in this or another simulator. */
  newId(): string {
    return `${this.idPrefix}${(this.nextId++).toString(36).padStart(6, '0')}`;
  }

  /** Replaces the default settings of the next `count` requests. */
  setDefaults(defaults: Overrides, count: number): void {
    this.defaults = defaults;
    this.defaultsLeft = count;
  }

  /** Takes the defaults of one request, and counts it. */
  takeDefaults(): Overrides {
    if (this.defaultsLeft <= 0) return {};
    this.defaultsLeft--;
    return this.defaults;
  }

  /** The defaults of the next request. */
  peekDefaults(): Overrides {
    return this.defaultsLeft > 0 ? this.defaults : {};
  }

  /** The random faults of one request, by order of arrival. */
  randomFaults(): FaultName[] {
    const { failRate, failFaults } = this.options;
    if (failRate === 0 || this.failures.next() >= failRate) return [];
    return [this.failures.pick(failFaults)];
  }

  /**
   * How the engine is when a request begins that has a slot. Prompts that are computed one after the other
   * find in the cache what those before them will have written, so that they are written at once.
   */
  begin(prompt: Prompt): EngineState & { readonly writtenTokens: number | undefined } {
    const { batchKnee, prefillUsPerToken } = this.options;
    const cachedTokens = this.cache?.cachedTokens(prompt) ?? 0;
    const slowdown = batchKnee === 0 ? 1 : Math.max(1, this.slots.used / batchKnee);
    if (!this.prefill) return { cachedTokens, slowdown, queuedMs: 0, writtenTokens: undefined };
    const durationMs = prefillMs(prefillUsPerToken, prompt.tokens - cachedTokens);
    const queuedMs = this.prefill.add(durationMs, performance.now());
    return { cachedTokens, slowdown, queuedMs, writtenTokens: this.cache?.write(prompt) ?? 0 };
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

  /** Clears both logs and resets the counts. */
  clear(): void {
    this.log.clear();
    this.slots.resetPeak();
    Object.assign(this.counts, { served: 0, refused: 0, fault: 0, cancelled: 0 });
  }
}
