import type { RouteDefinition } from '@svc/api/route';
import { routes } from '@svc/api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATOR_TOKEN, Platform } from '../platform.js';

let platform: Platform;
let apiKey: string;

beforeAll(async () => {
  platform = await Platform.start();
  const { id } = await platform.account('1.00');
  const fields = { apiKeyType: 'ADMIN', description: '' };
  const key = await platform.operator('POST', `/accounts/${id}/api_keys`, fields);
  apiKey = String(key.body['apiKey']);
});
afterAll(() => platform.stop());

const WITH_BODY = (Object.values(routes) as readonly RouteDefinition[]).filter(
  ({ body, access }) => body && access !== 'internal' && access !== 'process',
);

interface Sent {
  readonly name: string;
  readonly headers: (route: RouteDefinition) => Readonly<Record<string, string>>;
}

const WAYS: readonly Sent[] = [
  { name: 'no content type', headers: () => ({}) },
  {
    name: 'its content type',
    headers: ({ bodyType = 'application/json' }) => ({ 'content-type': [bodyType].flat()[0] ?? '' }),
  },
];

async function send({ method, path, access }: RouteDefinition, headers: object): Promise<number> {
  const isOperators = path.startsWith('/operator/');
  const url = new URL(path.replaceAll(/:\w+|\*/g, 'x'), isOperators ? platform.operatorUrl : platform.apiUrl);
  const token = isOperators || access === 'metrics' ? OPERATOR_TOKEN : apiKey;
  const response = await fetch(url, { method, headers: { authorization: `Bearer ${token}`, ...headers } });
  await response.text();
  return response.status;
}

describe('a request without a body, to a route that has one', () => {
  it.each(WAYS)('with $name: is never an unknown error', async ({ headers }) => {
    const answers: [string, number][] = [];
    for (const route of WITH_BODY)
      answers.push([`${route.method} ${route.path}`, await send(route, headers(route))]);
    expect(answers.length).toBeGreaterThan(60);
    expect(answers.filter(([, status]) => status === 500)).toEqual([]);
  });

  it.each(['/files', '/messages/batches'])('to %s: says what is missing', async (path) => {
    const authorization = `Bearer ${apiKey}`;
    const response = await fetch(`${platform.apiUrl}${path}`, { method: 'POST', headers: { authorization } });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('required')]);
  });
});
