import { type EventDefinition, EventLog } from '@svc/contracts/messages';
import { beforeEach, describe, expect, it } from 'vitest';
import { chargeOf } from '../../test/testing.js';
import { ChargeLog } from './charge-log.js';

const ACCOUNT = '00000000-0000-4000-8000-000000000001';

/** A log that stores events only when the test resolves them. */
class HeldLog extends EventLog {
  readonly stores: PromiseWithResolvers<void>[] = [];

  override publish<Payload>(_event: EventDefinition<Payload>, _payload: Payload): Promise<void> {
    const store = Promise.withResolvers<void>();
    this.stores.push(store);
    return store.promise;
  }

  get last(): PromiseWithResolvers<void> {
    const last = this.stores.at(-1);
    if (!last) throw new Error('nothing was asked');
    return last;
  }
}

let log: HeldLog;
let charges: ChargeLog;
beforeEach(() => {
  log = new HeldLog();
  charges = new ChargeLog(log);
});

const record = (): Promise<string> =>
  charges.record(chargeOf(ACCOUNT, 1n)).then(
    () => 'stored',
    (error: Error) => error.message,
  );

/** Makes the log fail one charge. */
async function failing(): Promise<void> {
  const first = record();
  log.last.reject(new Error('too late'));
  await first;
}

describe('a failing log', () => {
  it('fails all waiting charges as soon as one has waited long enough', async () => {
    const waiting = [record(), record(), record()];
    log.stores[0]?.reject(new Error('too late'));
    expect(await Promise.all(waiting)).toEqual(['too late', 'too late', 'too late']);
  });

  it('is not waited for, and gets one charge at a time until it has stored one', async () => {
    await failing();
    for (let turn = 0; turn < 5; turn += 1) expect(await record()).toBe('the event log does not respond');
    expect(log.stores).toHaveLength(2);
    log.last.reject(new Error('too late'));
    await expect.poll(record).toBe('the event log does not respond');
    await expect.poll(() => log.stores.length).toBe(3);
    log.last.resolve();
    await Promise.resolve();
    const stored = record();
    log.last.resolve();
    expect(await stored).toBe('stored');
  });

  it('works again once it stores a charge it had failed', async () => {
    const [first, second] = [record(), record()];
    log.stores[0]?.reject(new Error('too late'));
    await Promise.all([first, second]);
    log.stores[1]?.resolve();
    await Promise.resolve();
    const stored = record();
    log.last.resolve();
    expect(await stored).toBe('stored');
  });
});
