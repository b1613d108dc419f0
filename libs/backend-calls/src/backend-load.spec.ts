import { repeats } from '@svc/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BackendLoad } from './backend-load.js';

interface LoadCall {
  readonly accountId: string;
  state: 'waiting' | 'running' | 'refused' | 'left' | 'ended';
  /** Ends the call if it runs, or leaves the queue. */
  end: () => void;
}

/** A backend with a number of slots, and all calls ever made to it. */
class Traffic {
  readonly load = new BackendLoad();
  readonly calls: LoadCall[] = [];

  constructor(private readonly maxInFlight: number) {}

  of(state: LoadCall['state'], accountId?: string): LoadCall[] {
    return this.calls.filter(
      (call) => call.state === state && (accountId === undefined || call.accountId === accountId),
    );
  }

  call(accountId: string): LoadCall {
    const call: LoadCall = { accountId, state: 'waiting', end: () => undefined };
    this.calls.push(call);
    const sharer = { accountId, band: 'interactive' as const, weight: 1, promptTokens: 10 };
    const giveBack = this.load.take(sharer, this.maxInFlight);
    if (giveBack) this.run(call, giveBack);
    else {
      const leave = this.load.join({
        ...sharer,
        maxInFlight: this.maxInFlight,
        grant: (given) => this.run(call, given),
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

  private run(call: LoadCall, giveBack: () => void): void {
    call.state = 'running';
    call.end = () => {
      call.state = 'ended';
      call.end = () => undefined;
      giveBack();
    };
  }
}

const upTo = (max: number): fc.Arbitrary<number> => fc.nat({ max });
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('call' as const), which: upTo(4) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('end' as const), which: upTo(40) }) },
);

describe('BackendLoad', () => {
  it('runs as many calls as fit, and lets none wait without need (random histories)', () => {
    fc.assert(
      fc.property(upTo(19), fc.array(step, { maxLength: 120 }), (more, steps) => {
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
          for (const { accountId } of traffic.of('waiting')) {
            const own = traffic.of('running', accountId).length;
            const spared = own === 0 ? 0 : Math.floor(places / 4);
            expect(places - running).toBeLessThanOrEqual(spared);
          }
        }
        while (!traffic.load.isIdle) for (const call of traffic.of('running')) call.end();
        expect([...traffic.of('waiting'), ...traffic.of('running')]).toEqual([]);
      }),
      { numRuns: repeats('QUEUE_HISTORIES') },
    );
  });

  it('gives the next free slot to an account that has none, however many calls another one has waiting', () => {
    const traffic = new Traffic(3);
    for (let time = 0; time < 12; time += 1) traffic.call('flood');
    const newcomer = traffic.call('newcomer');
    expect(newcomer.state).toBe('waiting');
    traffic.of('running')[0]?.end();
    expect(newcomer.state).toBe('running');
    expect(traffic.of('running', 'flood')).toHaveLength(2);
  });

  it.each([
    [256, 1],
    [256, 4],
    [256, 12],
    [256, 18],
    [64, 6],
    [32, 4],
    [16, 4],
    [8, 2],
    [4, 1],
  ])('of %d slots leaves one at once for a newcomer, whatever %d others keep running', (places, others) => {
    for (const isInTurns of [true, false]) {
      const traffic = new Traffic(places);
      for (let call = 0; call < others * places; call += 1)
        traffic.call(`hog-${isInTurns ? call % others : Math.floor(call / places)}`);
      expect(traffic.call('newcomer').state).toBe('running');
    }
  });

  it('runs eight streams of a newcomer at once beside four accounts with 64 slow streams each, of 256 slots', () => {
    const traffic = new Traffic(256);
    for (let call = 0; call < 4 * 64; call += 1) traffic.call(`hog-${Math.floor(call / 64)}`);
    expect(Array.from({ length: 8 }, () => traffic.call('newcomer').state)).toEqual(Array(8).fill('running'));
  });

  it.each([
    [256, 224],
    [64, 56],
    [32, 28],
    [16, 12],
    [8, 6],
    [4, 3],
    [3, 3],
    [1, 1],
  ])('of %d slots lets a lone account have %d', (places, own) => {
    const traffic = new Traffic(places);
    for (let call = 0; call < places; call += 1) traffic.call('alone');
    expect(traffic.of('running')).toHaveLength(own);
  });

  it('leaves an account that waits for its own calls the slots that they free', () => {
    const traffic = new Traffic(8);
    for (let call = 0; call < 10; call += 1) traffic.call('alone');
    traffic.of('running')[0]?.end();
    expect([traffic.of('running').length, traffic.of('waiting').length]).toEqual([6, 3]);
  });

  it('alternates among accounts whose calls are of the same size', () => {
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
    const traffic = new Traffic(3);
    for (let time = 0; time < 19; time += 1) traffic.call('flood');
    expect(traffic.of('refused')).toEqual([]);
    expect(traffic.call('flood').state).toBe('refused');
    const newcomer = traffic.call('newcomer');
    expect(newcomer.state).toBe('waiting');
    expect(traffic.of('waiting')).toHaveLength(16);
    expect(traffic.of('refused').map(({ accountId }) => accountId)).toEqual(['flood', 'flood']);
  });
});
