import { repeats } from '@svc/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BackendLoad } from './backend-load.js';

interface Call {
  readonly accountId: string;
  state: 'waiting' | 'running' | 'refused' | 'left' | 'ended';
  /** Ends the call if it runs, or leaves the queue. */
  end: () => void;
}

/** A backend with a number of slots, and all calls ever made to it. */
class Traffic {
  readonly load = new BackendLoad();
  readonly calls: Call[] = [];
  readonly unfair: string[] = [];

  constructor(private readonly maxInFlight: number) {}

  of(state: Call['state'], accountId?: string): Call[] {
    return this.calls.filter(
      (call) => call.state === state && (accountId === undefined || call.accountId === accountId),
    );
  }

  call(accountId: string): Call {
    const call: Call = { accountId, state: 'waiting', end: () => undefined };
    this.calls.push(call);
    const giveBack = this.load.take(accountId, this.maxInFlight);
    if (giveBack) this.run(call, giveBack);
    else {
      const leave = this.load.join({
        accountId,
        maxInFlight: this.maxInFlight,
        grant: (given) => {
          this.checkShare(call);
          this.run(call, given);
        },
        refuse: () => {
          call.state = 'refused';
        },
      });
      call.end = () => {
        if (call.state === 'waiting') call.state = 'left';
        leave();
      };
      if (call.state === 'refused') call.end();
    }
    return call;
  }

  private run(call: Call, giveBack: () => void): void {
    call.state = 'running';
    call.end = () => {
      call.state = 'ended';
      call.end = () => undefined;
      giveBack();
    };
  }

  /** No account with waiting calls has fewer running than this one. */
  private checkShare({ accountId }: Call): void {
    const own = this.of('running', accountId).length;
    for (const other of this.of('waiting'))
      if (this.of('running', other.accountId).length < own)
        this.unfair.push(`${accountId} before ${other.accountId}`);
  }
}

const upTo = (max: number): fc.Arbitrary<number> => fc.nat({ max });
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('call' as const), which: upTo(4) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('end' as const), which: upTo(40) }) },
);

describe('BackendLoad', () => {
  it('runs as many calls as fit, leaves no slot free while any waits, and serves the least served account first (random histories)', () => {
    fc.assert(
      fc.property(upTo(5), fc.array(step, { maxLength: 120 }), (more, steps) => {
        const places = 1 + more;
        const traffic = new Traffic(places);
        for (const { do: what, which } of steps) {
          if (what === 'call') traffic.call(`account-${which}`);
          else {
            const live = [...traffic.of('running'), ...traffic.of('waiting')];
            live[which % Math.max(1, live.length)]?.end();
          }
          const running = traffic.of('running').length;
          expect(running).toBe(traffic.load.inFlight);
          expect(running).toBeLessThanOrEqual(places);
          const hasFreePlace = running < places;
          expect(hasFreePlace && traffic.of('waiting').length > 0).toBe(false);
          expect(traffic.unfair).toEqual([]);
        }
        while (!traffic.load.isIdle) for (const call of traffic.of('running')) call.end();
        expect([...traffic.of('waiting'), ...traffic.of('running')]).toEqual([]);
      }),
      { numRuns: repeats('QUEUE_HISTORIES') },
    );
  });

  it('gives the next free slot to an account that has none, however many calls another one has waiting', () => {
    const traffic = new Traffic(4);
    for (let time = 0; time < 12; time += 1) traffic.call('flood');
    const newcomer = traffic.call('newcomer');
    expect(newcomer.state).toBe('waiting');
    traffic.of('running')[0]?.end();
    expect(newcomer.state).toBe('running');
    expect(traffic.of('running', 'flood')).toHaveLength(3);
  });

  it('alternates among accounts with equally many calls', () => {
    const traffic = new Traffic(1);
    const order: string[] = [];
    for (const accountId of ['a', 'a', 'a', 'b', 'b', 'c']) traffic.call(accountId);
    for (let running = traffic.of('running')[0]; running; running = traffic.of('running')[0]) {
      order.push(running.accountId);
      running.end();
    }
    expect(order.join('')).toBe('aabcab');
  });

  it('rejects the latest call of the account with the most calls when too many wait, and no other', () => {
    const traffic = new Traffic(20);
    for (let time = 0; time < 40; time += 1) traffic.call('flood');
    expect(traffic.of('refused')).toEqual([]);
    expect(traffic.call('flood').state).toBe('refused');
    const newcomer = traffic.call('newcomer');
    expect(newcomer.state).toBe('waiting');
    expect(traffic.of('waiting')).toHaveLength(20);
    expect(traffic.of('refused').map(({ accountId }) => accountId)).toEqual(['flood', 'flood']);
  });
});
