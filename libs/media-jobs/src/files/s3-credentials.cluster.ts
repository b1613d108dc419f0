import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type LocalS3, temporaryS3 } from '@svc/infra';
import { createLogger, loadConfig } from '@svc/runtime';
import { TestServer } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { contentOf, pieces } from '../../test/media-store.conformance.js';
import { mediaStoreConfig } from '../media-jobs.config.js';
import type { MediaStore } from './media-store.js';
import { openMediaStore } from './open-media-store.js';

const TOKEN = 'token-of-the-pod';
const ROLE = 'arn:aws:iam::123456789012:role/media';

let server: LocalS3;
let folder: string;
let tokenFile: string;
/** Gives keys to the holder of the token, as AWS's token service and the agent of a node do. */
let issuer: TestServer;
let lifetimeSeconds: number;
let keysGiven: number;
/** The S3 server has no sessions, so it accepts only keys without a token. */
let session: string | undefined;

beforeAll(async () => {
  server = await temporaryS3();
  folder = await mkdtemp(join(tmpdir(), 'svc-identity-'));
  tokenFile = join(folder, 'token');
  issuer = await TestServer.start((request, response) => void issue(request, response));
});

beforeEach(async () => {
  await writeFile(tokenFile, `${TOKEN}\n`);
  lifetimeSeconds = 3_600;
  keysGiven = 0;
  session = undefined;
});

afterAll(async () => {
  await issuer.close();
  await server.stop();
  await rm(folder, { recursive: true });
});

async function issue(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const form = new URLSearchParams(await text(request));
  const token = form.get('WebIdentityToken') ?? request.headers.authorization;
  const isRole = request.method === 'GET' || form.get('RoleArn') === ROLE;
  if (token !== TOKEN || !isRole) {
    response.writeHead(403).end('<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>');
    return;
  }
  keysGiven += 1;
  const keys = {
    AccessKeyId: server.settings['MEDIA_S3_ACCESS_KEY_ID'],
    SecretAccessKey: server.settings['MEDIA_S3_SECRET_ACCESS_KEY'],
    Expiration: new Date(Date.now() + 1_000 * lifetimeSeconds).toISOString(),
  };
  if (request.method === 'GET') {
    response.end(JSON.stringify({ ...keys, Token: session }));
    return;
  }
  const members = Object.entries({ ...keys, ...(session !== undefined && { SessionToken: session }) });
  const xml = members.map(([name, value]) => `<${name}>${value}</${name}>`).join('');
  response.end(
    `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>${xml}</Credentials>` +
      `</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
  );
}

/** The variables that EKS and others set in a pod with an identity. */
const IDENTITIES = {
  'a role and a token (IRSA)': () => ({
    AWS_ROLE_ARN: ROLE,
    AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
    AWS_ENDPOINT_URL_STS: issuer.url,
  }),
  'the agent of the node (Pod Identity)': () => ({
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${issuer.url}/v1/credentials`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile,
  }),
};

function opened(identity: Readonly<Record<string, string>>): Promise<MediaStore> {
  const { MEDIA_S3_URL: url = '', MEDIA_S3_BUCKET: bucket = '' } = server.settings;
  const env = { MEDIA_S3_URL: url, MEDIA_S3_BUCKET: bucket, ...identity };
  return openMediaStore(loadConfig(mediaStoreConfig, env), createLogger('fatal'));
}

describe.each(Object.entries(IDENTITIES))('a process without keys, but with %s', (_what, identity) => {
  it('stores and reads media by keys that it gets once for their lifetime', async () => {
    const store = await opened(identity());
    await store.put('a', pieces('content'), 100);
    expect(String(await contentOf(store, 'a'))).toBe('content');
    expect(keysGiven).toBe(1);
    await store.close();
  });

  it('gets new keys by the current token before the old ones expire', async () => {
    lifetimeSeconds = 0;
    const store = await opened(identity());
    const before = keysGiven;
    await store.remove('a');
    expect(keysGiven).toBeGreaterThan(before);
    await writeFile(tokenFile, 'revoked');
    await expect(store.remove('a')).rejects.toThrow('was refused with 403');
    await store.close();
  });

  it('signs its calls with the session of its keys', async () => {
    session = 'session';
    const [seen, refusing] = [Promise.withResolvers<IncomingMessage>(), identity()];
    const bucket = await TestServer.start((request, response) => {
      seen.resolve(request);
      response.end();
    });
    await (await opened({ ...refusing, MEDIA_S3_URL: bucket.url })).close();
    await bucket.close();
    const { headers } = await seen.promise;
    expect(headers['x-amz-security-token']).toBe(session);
    expect(headers.authorization).toMatch(/SignedHeaders=[^,]*x-amz-security-token/);
    await expect(opened(refusing)).rejects.toThrow('InvalidToken');
  });

  it('does not start with a token that is refused, or missing, and says so', async () => {
    await writeFile(tokenFile, 'other');
    await expect(opened(identity())).rejects.toThrow(/MEDIA_S3_BUCKET cannot be used: .* refused with 403/);
    await rm(tokenFile);
    await expect(opened(identity())).rejects.toThrow(/_TOKEN_FILE: .*ENOENT/);
  });
});

describe('a process without keys', () => {
  it('and without an identity does not start, and neither does one with half of a key', async () => {
    await expect(opened({})).rejects.toThrow('AWS_WEB_IDENTITY_TOKEN_FILE');
    await expect(opened({ MEDIA_S3_ACCESS_KEY_ID: 'k' })).rejects.toThrow(
      'MEDIA_S3_SECRET_ACCESS_KEY is not set',
    );
  });

  it('starts while its token service is down, since it will return', async () => {
    const down = await TestServer.start((_request, response) => response.writeHead(503).end());
    const { AWS_ENDPOINT_URL_STS: _url, ...identity } = IDENTITIES['a role and a token (IRSA)']();
    const store = await opened({ ...identity, AWS_ENDPOINT_URL_STS: down.url });
    await expect(store.open('a')).rejects.toThrow('was refused with 503');
    await store.close();
    await down.close();
  });
});
