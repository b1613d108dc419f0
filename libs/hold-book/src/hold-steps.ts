import assert from 'node:assert/strict';
import { type RedisConnection, RedisScript } from '@svc/storage';
import {
  AVAILABLE,
  BUDGET,
  EXTEND,
  HOLD,
  HOLD_REST,
  LOAD,
  MAKE_MARK,
  MARK_OF,
  OPEN_HOLDS,
  POST,
  RELEASE,
  RENEW,
  SETTLE,
} from './hold-scripts.js';

const SCRIPTS = {
  hold: HOLD,
  available: AVAILABLE,
  openHolds: OPEN_HOLDS,
  holdRest: HOLD_REST,
  extend: EXTEND,
  settle: SETTLE,
  release: RELEASE,
  renew: RENEW,
  post: POST,
  load: LOAD,
  budget: BUDGET,
} as const;

export type StepName = keyof typeof SCRIPTS;
/** A script's result: the outcome of the step, and its values. */
export type StepReply = readonly string[];

/** Accounts of a bucket share a mark and a cluster node. */
export const BUCKETS = 256;
/** The keys of an account, in the order of the scripts. */
const PARTS = ['account', 'holds', 'leases', 'posted', 'budgets'] as const;
/** Makes the scripts use the server's clock. */
const SERVERS_CLOCK = -1;

export interface HoldStepsOptions {
  /** Key prefix; default: `svc:holds:`. */
  readonly prefix?: string;
  /** Unix ms; default: the server's clock. */
  readonly nowMs?: () => number;
}

/** The scripts of the hold book, on one Redis server or on the cluster node that has the account. */
export class HoldSteps {
  private readonly scripts: ReadonlyMap<StepName, RedisScript>;
  private readonly markOf: RedisScript;
  private readonly makeMark: RedisScript;

  private readonly prefix: string;
  private readonly nowMs: () => number;

  constructor(
    readonly redis: RedisConnection,
    { prefix = 'svc:holds:', nowMs = () => SERVERS_CLOCK }: HoldStepsOptions = {},
  ) {
    this.prefix = prefix;
    this.nowMs = nowMs;
    const names = Object.keys(SCRIPTS) as StepName[];
    this.scripts = new Map(names.map((name) => [name, new RedisScript(redis, SCRIPTS[name])]));
    this.markOf = new RedisScript(redis, MARK_OF);
    this.makeMark = new RedisScript(redis, MAKE_MARK);
  }

  async take(name: StepName, accountId: string, args: readonly (string | number)[]): Promise<StepReply> {
    const script = this.scripts.get(name);
    assert(script, 'every step has its script');
    const bucket = bucketOf(accountId);
    const tag = `${this.prefix}{${bucket}}:${accountId}:`;
    const keys = [...PARTS.map((part) => tag + part), this.markKey(bucket)];
    const reply = await script.run({ keys, args: [this.nowMs(), ...args] });
    assert(
      Array.isArray(reply) && reply.every((item) => typeof item === 'string'),
      'not a reply of the script',
    );
    return reply;
  }

  /**
   * The mark that proves a bucket complete; undefined if it is missing or another server process made it.
   */
  async mark(bucket: number): Promise<string | undefined> {
    const mark = String(await this.markOf.run({ keys: [this.markKey(bucket)], args: [] }));
    return mark === '' ? undefined : mark;
  }

  /** Creates the mark of a bucket if it has none, and returns it. */
  async marked(bucket: number, name: string): Promise<string> {
    return String(await this.makeMark.run({ keys: [this.markKey(bucket)], args: [name] }));
  }

  private markKey(bucket: number): string {
    return `${this.prefix}{${bucket}}:mark`;
  }
}

/** The bucket of an account, by FNV-1a. */
export function bucketOf(accountId: string): number {
  let hash = 2_166_136_261;
  for (let index = 0; index < accountId.length; index += 1)
    hash = Math.imul(hash ^ accountId.charCodeAt(index), 16_777_619);
  return (hash >>> 0) % BUCKETS;
}
