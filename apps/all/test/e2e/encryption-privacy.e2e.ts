import { type Simulator, startSimulator } from '@svc/simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../response-bodies.js';
import { foundInFiles, foundInMemory, newCanary, repeatEncrypted, repeatPlain } from '../canaries.js';
import { ENCRYPTED_MODEL, enclaveAt } from '../enclaves.js';
import { EncryptionSession } from '../encryption-session.js';
import { OtlpReceiver } from '../otlp-receiver.js';
import { Platform, type TestAccount } from '../platform.js';

let enclave: Simulator;
let receiver: OtlpReceiver;
let platform: Platform;
let account: TestAccount;
let session: EncryptionSession;

beforeAll(async () => {
  enclave = await startSimulator();
  receiver = await OtlpReceiver.start();
  platform = await Platform.start({
    models: [{ ...ENCRYPTED_MODEL, backends: [enclaveAt(enclave.url)] }],
    env: receiver.settings,
  });
  account = await platform.account();
  session = await EncryptionSession.with(enclave);
});

afterAll(async () => {
  await platform.stop();
  receiver.close();
  await enclave.close();
});

describe('the texts of an encrypted chat', () => {
  it('are never in the memory of the gateway, unlike those of a plain one', async () => {
    const { pid } = platform.service;
    const [hidden, plain] = [newCanary(), newCanary()];
    await repeatEncrypted(platform, account, { session, canary: hidden });
    await repeatPlain(platform, account, plain);
    // The control: what is there is found.
    expect(await foundInMemory(pid, [hidden, plain])).toEqual([plain]);
  });

  it('are in no log, trace, metric or table, encrypted or not', async () => {
    const canary = newCanary();
    const ciphertexts = await repeatEncrypted(platform, account, { session, canary });
    const requestId = await repeatPlain(platform, account, newCanary());
    // Tails, since each begins with a key.
    const texts = [canary, ...ciphertexts.map((text) => text.slice(-64))];
    const sent = (): string => Buffer.concat(receiver.bytes).toString('latin1');
    await eventually(
      'the later request is logged and exported',
      async () => (await platform.log()).includes(requestId) && sent().includes(requestId),
    );
    const log = (await platform.log()) + sent();
    expect(texts.filter((text) => log.includes(text))).toEqual([]);
    expect(await foundInFiles(platform.dataDir, [...texts, requestId])).toEqual([requestId]);
  });
});
