import { readFile } from 'node:fs/promises';
import { type Lent, StartFault, expiring, jsonOrUndefined, shortCall } from '@svc/runtime';
import type { AwsKeys } from '@svc/runtime/aws';
import { z } from 'zod';
import type { MediaStoreConfig } from '../media-jobs.config.js';
import { type S3Bucket, elementsOf } from './s3-calls.js';

/** The process gets no keys for its identity. */
export class KeysRefusal extends Error {
  override readonly name = 'KeysRefusal';

  constructor(
    readonly status: number,
    code: string,
  ) {
    super(
      `a request for keys by the identity of this process was refused with ${`${status} ${code}`.trim()}`,
    );
  }
}

/**
 * The keys of the settings, or without them those of the workload's identity, as EKS and other clusters give
 * it: temporary keys, which are replaced before they expire.
 */
export function credentialsOf(config: MediaStoreConfig): S3Bucket['credentials'] {
  const { MEDIA_S3_ACCESS_KEY_ID: accessKeyId, MEDIA_S3_SECRET_ACCESS_KEY: secretAccessKey } = config;
  if (accessKeyId !== undefined && secretAccessKey !== undefined) return { accessKeyId, secretAccessKey };
  if (accessKeyId !== undefined)
    throw new StartFault('MEDIA_S3_SECRET_ACCESS_KEY is not set, which MEDIA_S3_ACCESS_KEY_ID needs');
  const { AWS_ROLE_ARN: role, AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile } = config;
  if (role !== undefined && tokenFile !== undefined)
    return expiring(() => assumedRole({ role, tokenFile, url: tokenServiceOf(config) }));
  const {
    AWS_CONTAINER_CREDENTIALS_FULL_URI: agent,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: agentTokenFile,
  } = config;
  if (agent !== undefined) return expiring(() => agentKeys(agent, agentTokenFile));
  throw new StartFault(
    'MEDIA_S3_ACCESS_KEY_ID is not set, which MEDIA_S3_URL needs without a workload identity ' +
      '(AWS_ROLE_ARN with AWS_WEB_IDENTITY_TOKEN_FILE, or AWS_CONTAINER_CREDENTIALS_FULL_URI)',
  );
}

function tokenServiceOf({ AWS_ENDPOINT_URL_STS: url, MEDIA_S3_REGION: region }: MediaStoreConfig): string {
  return url ?? `https://sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`;
}

interface Role {
  readonly role: string;
  readonly tokenFile: string;
  readonly url: string;
}

/** Exchanges the token in the file for keys: `AssumeRoleWithWebIdentity` of AWS, MinIO, Ceph and others. */
async function assumedRole({ role, tokenFile, url }: Role): Promise<Lent<AwsKeys>> {
  const body = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: role,
    RoleSessionName: 'svc',
    WebIdentityToken: await tokenIn(tokenFile, 'AWS_WEB_IDENTITY_TOKEN_FILE'),
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const { status, text } = await shortCall(url, { method: 'POST', headers, body: body.toString() });
  if (status !== 200) throw new KeysRefusal(status, elementsOf(text, 'Code')[0] ?? '');
  const element = (name: string): string | undefined => elementsOf(text, name)[0];
  return lentKeys({
    AccessKeyId: element('AccessKeyId'),
    SecretAccessKey: element('SecretAccessKey'),
    Token: element('SessionToken'),
    Expiration: element('Expiration'),
  });
}

/** The keys that the agent of the node has for this pod. */
async function agentKeys(url: string, tokenFile: string | undefined): Promise<Lent<AwsKeys>> {
  const setting = 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE';
  const headers: Record<string, string> =
    tokenFile === undefined ? {} : { authorization: await tokenIn(tokenFile, setting) };
  const { status, text } = await shortCall(url, { method: 'GET', headers });
  if (status !== 200) throw new KeysRefusal(status, '');
  return lentKeys(jsonOrUndefined(text));
}

async function tokenIn(file: string, setting: keyof MediaStoreConfig): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw new StartFault(`${setting}: ${error instanceof Error ? error.message : 'cannot be read'}`);
  }
}

const TemporaryKeys = z.object({
  AccessKeyId: z.string().min(1),
  SecretAccessKey: z.string().min(1),
  Token: z.string().min(1).optional(),
  Expiration: z.iso.datetime({ offset: true }),
});

/** Throws an error without the response, which has a secret. */
function lentKeys(response: unknown): Lent<AwsKeys> {
  const { success, data } = TemporaryKeys.safeParse(response);
  if (!success) throw new TypeError('the response to a request for keys has no keys');
  return {
    value: {
      accessKeyId: data.AccessKeyId,
      secretAccessKey: data.SecretAccessKey,
      ...(data.Token !== undefined && { sessionToken: data.Token }),
    },
    lifetimeMs: Date.parse(data.Expiration) - Date.now(),
  };
}
