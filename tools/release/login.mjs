// Logs in to a registry with REGISTRY_USER and REGISTRY_TOKEN, for crane, helm and cosign, which read the
// same file: node tools/release/login.mjs REGISTRY.
import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const [registry] = process.argv.slice(2);
const { REGISTRY_USER: user, REGISTRY_TOKEN: token } = process.env;
if (!registry || !user || !token) {
  console.error('Usage: REGISTRY_USER=… REGISTRY_TOKEN=… node tools/release/login.mjs REGISTRY');
  process.exit(2);
}
const folder = process.env.DOCKER_CONFIG ?? join(homedir(), '.docker');
const auth = Buffer.from(`${user}:${token}`).toString('base64');
mkdirSync(folder, { recursive: true });
writeFileSync(
  join(folder, 'config.json'),
  JSON.stringify({ auths: { [registry.split('/')[0]]: { auth } } }),
  {
    mode: 0o600,
  },
);
