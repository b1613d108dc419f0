import { setTimeout as sleep } from 'node:timers/promises';
import { PROVISIONAL_MS } from '@svc/contracts/problems';

/** What a request claims: its place in the limits, and its money. */
export type Claimed = 'limits' | 'money';

/** A refusal of a claim. */
export interface ClaimRefusal {
  readonly by: Claimed;
  /** Whether another request may give back what this one lacks; it then tries again. */
  readonly isProvisional: boolean;
}

interface Refusable {
  readonly refusal?: ClaimRefusal | undefined;
}

/** How long a request tries again; what it lacks is no longer provisional before that. */
const PATIENCE_MS = 2 * PROVISIONAL_MS;

/** How long claims are made one after the other once one of them was refused. */
const REMEMBERED_MS = 1_000;

const FIRST_PAUSE_MS = 10;
const LAST_PAUSE_MS = 160;

/** Requests that wait at once. Further ones get their first refusal. */
const MAX_WAITING = 1_000;

/** Resolves after this time. */
export type ClaimPause = (ms: number) => Promise<unknown>;

/** A turn to try until the outcome is known, or to try once because it is known for the request before. */
type Turn = 'next' | 'last';

/**
 * The requests of one key for one model or route after one of them was refused. Those whose refusal is
 * provisional try again, one at a time. Once one of them is finally refused, the rest try at once.
 */
export class Contention {
  /** What was refused last. It is claimed first, so a request that is refused again has taken nothing. */
  first: Claimed = 'limits';
  private endsAtMs = 0;
  private isBusy = false;
  private readonly waiting: ((turn: Turn) => void)[] = [];

  constructor(private readonly pause: ClaimPause = sleep) {}

  get isOver(): boolean {
    return !this.isBusy && performance.now() > this.endsAtMs;
  }

  note({ by }: ClaimRefusal): void {
    this.first = by;
    this.endsAtMs = performance.now() + REMEMBERED_MS;
  }

  /** Repeats a refused attempt until it succeeds, its refusal is final, or the patience is over. */
  async retried<Claim extends Refusable>(refused: Claim, attempt: () => Promise<Claim>): Promise<Claim> {
    const untilMs = performance.now() + PATIENCE_MS;
    let claim = refused;
    while (isProvisional(claim) && performance.now() < untilMs && this.waiting.length < MAX_WAITING)
      claim = await this.inTurn(attempt, untilMs);
    return claim;
  }

  private async inTurn<Claim extends Refusable>(
    attempt: () => Promise<Claim>,
    untilMs: number,
  ): Promise<Claim> {
    let pauseMs = FIRST_PAUSE_MS;
    if (this.isBusy) {
      if ((await this.turn()) === 'last') return attempt();
      pauseMs = 0;
    }
    this.isBusy = true;
    let claim: Claim | undefined;
    try {
      do {
        await this.pause(pauseMs);
        claim = await attempt();
        pauseMs = Math.min(Math.max(FIRST_PAUSE_MS, 2 * pauseMs), LAST_PAUSE_MS);
      } while (isProvisional(claim) && performance.now() + pauseMs < untilMs);
      return claim;
    } finally {
      this.passOn(claim?.refusal ? 'last' : 'next');
    }
  }

  private turn(): Promise<Turn> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private passOn(turn: Turn): void {
    const waiting = this.waiting.splice(0, turn === 'next' ? 1 : this.waiting.length);
    this.isBusy = turn === 'next' && waiting.length > 0;
    for (const resolve of waiting) resolve(turn);
  }
}

const isProvisional = ({ refusal }: Refusable): boolean => refusal?.isProvisional === true;
