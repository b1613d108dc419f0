import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import { LRUCache } from 'lru-cache';
import { PassingMap } from '@svc/runtime';
import { type Lasting, lasts } from './lasting-results.js';
import type { NodeOutcome } from './node-outcomes.js';
import type { NodeCall } from './node-requests.js';

/** For all results of a process. */
const CACHE_BYTES = 67_108_864;

/** A wrong result of a node that lies ends after this time. */
const LIFETIME_MS = 3_600_000;

/** About what an entry takes in addition to its result. */
const ENTRY_BYTES = 512;

/** What became of a call. */
export interface ReadOutcome {
  readonly outcome?: NodeOutcome;
  /** The node that responded. */
  readonly backend?: string | undefined;
  readonly failure?: unknown;
}

/** A call that reads. */
export interface ReadCall extends NodeCall {
  /** When its result lasts; `undefined`: perhaps never. */
  readonly lasting: Lasting | undefined;
}

/** Calls that a node gets together. Several requests of clients may wait for some of them. */
export class ReadPart {
  readonly calls: ReadCall[] = [];
  private waiting = 0;
  private readonly stop = new AbortController();
  private readonly done = Promise.withResolvers<readonly ReadOutcome[]>();

  /** Does the work, which must not reject, unless nothing waits for it any more. */
  async run(work: (signal: AbortSignal) => Promise<readonly ReadOutcome[]>): Promise<void> {
    const { signal } = this.stop;
    this.done.resolve(signal.aborted ? [] : await work(signal));
  }

  /** The outcomes in the order of the calls. The last one whose signal is aborted ends the work. */
  async outcomes(signal: AbortSignal): Promise<readonly ReadOutcome[]> {
    const left = Promise.withResolvers<never>();
    const leave = (): void => left.reject(signal.reason);
    signal.addEventListener('abort', leave);
    this.waiting += 1;
    try {
      signal.throwIfAborted();
      return await Promise.race([this.done.promise, left.promise]);
    } finally {
      signal.removeEventListener('abort', leave);
      this.waiting -= 1;
      if (this.waiting === 0) this.stop.abort();
    }
  }
}

/** A call that is being made. */
export interface OpenRead {
  readonly part: ReadPart;
  readonly position: number;
}

interface KeptResult {
  /** Its bytes: a text may be a slice that keeps a whole response in memory. */
  readonly result: Buffer;
  readonly backend: string;
}

/**
 * Reads whose results cannot change any more. They are made once for all clients that wait for them at the
 * same time, and their results are kept. Calls have the same key only if nodes get the same text.
 */
@Injectable()
export class SharedReads {
  private readonly results = new LRUCache<string, KeptResult>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ result }) => result.length + ENTRY_BYTES,
    ttl: LIFETIME_MS,
  });
  private readonly open = new PassingMap<string, OpenRead>();
  /** By network: what was final at all of its nodes when one of them last responded. */
  private readonly finalized = new Map<string, number>();

  constructor(catalog: Catalog) {
    catalog.onReplaced(() => {
      this.results.clear();
      this.finalized.clear();
    });
  }

  /** `undefined` if nothing is known of a final block. */
  finalizedOf(network: string): number | undefined {
    return this.finalized.get(network);
  }

  /** Notes what is final according to a response. */
  note(network: string, finalizedBlock: number | undefined): void {
    if (finalizedBlock === undefined) this.finalized.delete(network);
    else this.finalized.set(network, finalizedBlock);
  }

  /** The outcome of an earlier call. */
  kept(network: string, call: ReadCall): ReadOutcome | undefined {
    if (call.lasting === undefined) return undefined;
    const kept = this.results.get(keyOf(network, call));
    return kept && { outcome: { result: kept.result.toString() }, backend: kept.backend };
  }

  /** Keeps a result if it lasts. `finalizedBlock` must have been final before the call. */
  keep(
    network: string,
    call: ReadCall,
    found: { readonly result: string; readonly backend: string; readonly finalizedBlock: number | undefined },
  ): void {
    const { result, backend, finalizedBlock = -1 } = found;
    if (call.lasting === undefined || !lasts(call.lasting, result, finalizedBlock)) return;
    this.results.set(keyOf(network, call), { result: Buffer.from(result), backend });
  }

  /**
   * The same call, if it is being made, and its result is final already: a client may wait for it although it
   * began earlier.
   */
  opened(network: string, call: ReadCall): OpenRead | undefined {
    return this.isShared(network, call) ? this.open.get(keyOf(network, call)) : undefined;
  }

  /** Lets others wait for a call, until its part is closed. */
  begin(network: string, call: ReadCall, read: OpenRead): void {
    if (this.isShared(network, call)) this.open.set(keyOf(network, call), read);
  }

  close(network: string, part: ReadPart): void {
    for (const call of part.calls) {
      const key = call.lasting === undefined ? undefined : keyOf(network, call);
      if (key !== undefined && this.open.get(key)?.part === part) this.open.delete(key);
    }
  }

  private isShared(network: string, { lasting }: ReadCall): boolean {
    if (typeof lasting !== 'number') return lasting === 'always';
    return lasting <= (this.finalized.get(network) ?? -1);
  }
}

/** Of one length for parameters of any length. */
const keyOf = (network: string, { method, params = '' }: ReadCall): string =>
  hash('sha256', `${network}\n${method}\n${params}`, 'base64url');
