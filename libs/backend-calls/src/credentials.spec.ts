import { Backend } from '@svc/contracts/catalog';
import { expect, it } from 'vitest';
import { BackendLoad } from './backend-load.js';
import { LiveBackend } from './backend-pool.js';
import { Credentials } from './credentials.js';
import { jsonHeaders } from './planned-request.js';

const URL_TEXT = 'https://eu.example.test/v1/projects/my-shop/locations/europe-west1/publishers/google';

function live(): LiveBackend {
  const backend = Backend.parse({ url: URL_TEXT, model: 'm', apiKeyEnv: 'KEY' });
  return new LiveBackend(backend, new BackendLoad(), { url: new URL(URL_TEXT), name: 'b' });
}

it('hides a key that was replaced while calls with it are under way', () => {
  let key = 'the-first-key';
  const credentials = new Credentials(() => key);
  expect(credentials.keyOf(live())).toBe('the-first-key');
  key = 'the-other-key';
  expect(credentials.hiddenOf(live(), 'm')).toEqual(
    expect.arrayContaining(['the-first-key', 'the-other-key']),
  );
});

it('hides the project and the region in a URL, and each part of a secret', () => {
  const key = JSON.stringify({ client_email: 'me@shop.test', private_key: 'line one\nline two' });
  expect(new Credentials(() => key).hiddenOf(live(), 'm')).toEqual(
    expect.arrayContaining(['my-shop', 'europe-west1', 'me@shop.test', 'line one\nline two']),
  );
});

it('sends no secret with parts as a bearer token', () => {
  const requestId = 'id';
  expect(jsonHeaders({ requestId, key: '{"private_key":"x"}' })).not.toHaveProperty('authorization');
  expect(jsonHeaders({ requestId, key: 'plain' })).toHaveProperty('authorization', 'Bearer plain');
});
