import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Infra } from './infra.js';
import { type KafkaIdentity, KafkaServer, type KafkaTokens, kafkaBrokers } from './kafka-server.js';
import { LocalS3 } from './local-s3.js';
import { birthOf } from './processes.js';
import type { Server } from './server.js';

/** Followed by the id of the process that created it. */
const PREFIX = 'svc-test-infra-';

/**
 * Servers for one test, not started yet, in a folder that `wipe` removes. Leftovers of killed processes are
 * removed first. The environment locates programs; servers named in it are not used.
 */
export async function temporaryInfra(): Promise<Infra> {
  const { KAFKA_BROKERS: _brokers, REDIS_URL: _redis, DATABASE_URL: _database, ...programs } = process.env;
  return new Infra(await temporaryFolder(), programs);
}

/** A server of S3 for one test, with an empty bucket. */
export const temporaryS3 = (): Promise<LocalS3> => LocalS3.start(process.env);

/** Replicated brokers for one test, not started yet. They need a majority to work. */
export interface TemporaryBrokers {
  readonly brokers: readonly Server[];
  wipe(): Promise<void>;
}

export async function temporaryBrokers(count: number): Promise<TemporaryBrokers> {
  const folder = await temporaryFolder();
  return ended(folder, await kafkaBrokers(folder, count, process.env));
}

/**
 * A broker for one test that accepts only TLS, and with `clientAuthority` only clients with a certificate of
 * it; not started yet.
 */
export async function temporaryTlsBroker(
  identity: KafkaIdentity,
  clientAuthority?: string,
): Promise<TemporaryBrokers> {
  const folder = await temporaryFolder();
  return ended(folder, [
    new KafkaServer(join(folder, 'kafka-1'), process.env, {
      identity,
      ...(clientAuthority !== undefined && { clientAuthority }),
    }),
  ]);
}

/** A broker for one test that accepts only clients with such a token; not started yet. */
export async function temporaryTokenBroker(tokens: KafkaTokens): Promise<TemporaryBrokers> {
  const folder = await temporaryFolder();
  return ended(folder, [new KafkaServer(join(folder, 'kafka-1'), process.env, { tokens })]);
}

const ended = (folder: string, brokers: readonly Server[]): TemporaryBrokers => ({
  brokers,
  wipe: async () => {
    // In a graceful stop, the last ones would wait for the others.
    await Promise.all(brokers.map((broker) => broker.kill()));
    await rm(folder, { recursive: true, force: true });
  },
});

async function temporaryFolder(): Promise<string> {
  await removeLeftBehind();
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  // As root, PostgreSQL runs as another user, who must be able to enter.
  await chmod(folder, 0o711);
  return folder;
}

async function removeLeftBehind(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const owner = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]);
    if (!owner || (await birthOf(owner)) !== undefined) continue;
    const folder = join(tmpdir(), name);
    // Another test process may be removing it too.
    await new Infra(folder).wipe().catch(() => undefined);
    for (const server of await readdir(folder).catch(() => [])) {
      if (server.startsWith('kafka-'))
        await new KafkaServer(join(folder, server), {}).kill().catch(() => undefined);
    }
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}
