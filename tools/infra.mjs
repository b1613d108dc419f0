// Local Kafka, Redis and PostgreSQL in `.svc/infra`: `npm run infra -- up|down|wipe|status`.
// Servers given by their variable (KAFKA_BROKERS, REDIS_URL, DATABASE_URL) are left alone.
import { join } from 'node:path';
import { EVENTS } from '@svc/contracts/messages';
import { createTopics, kafkaConnection, topicTerms, topicsConfig } from '@svc/events';
import { Infra } from '@svc/infra';
import { loadConfig } from '@svc/runtime';
import { dataDir } from './data-dir.mjs';

const infra = new Infra(join(dataDir, 'infra'), process.env);

const quoted = (value) => `'${value.replaceAll("'", String.raw`'\''`)}'`;

/** The variables, as shell assignments. */
async function status() {
  for (const server of infra.servers) {
    const address = await server.address();
    if (address === undefined) console.log(`# ${server.variable}: down`);
    else
      for (const [name, value] of Object.entries({
        [server.variable]: address,
        ...(await server.credentials()),
      }))
        console.log(`export ${name}=${quoted(value)}`);
  }
}

const commands = {
  up: async () => {
    const variables = await infra.up();
    const config = loadConfig(topicsConfig, { ...process.env, ...variables });
    await createTopics(kafkaConnection(config), EVENTS, topicTerms(config));
    await status();
  },
  down: () => infra.down(),
  wipe: () => infra.wipe(),
  status,
};

const command = commands[process.argv[2] ?? ''];
if (command === undefined) {
  console.error('npm run infra -- up|down|wipe|status');
  process.exitCode = 2;
} else {
  await command().catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
