import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CharactersFile } from '@svc/api/characters';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { errorOf, eventually } from '../response-bodies.js';
import { Platform, type TestAccount } from '../platform.js';
import { isClustered } from '../target.js';

const ANN = {
  slug: 'ann',
  name: 'Ann',
  description: 'A sailor',
  systemPrompt: 'You are Ann.',
  tags: ['sea'],
  featured: true,
  author: 'Jane Doe',
};
const BOB = {
  slug: 'bob',
  name: 'Bob',
  systemPrompt: 'You are Bob.',
  tags: ['land', 'farm'],
  modelId: 'own',
};

let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  platform = await Platform.start({
    models: [{ id: 'own', housePrompts: ['Own rules.'] }],
    housePrompts: ['House rules.'],
    characters: [BOB, ANN],
  });
  account = await platform.account();
});

afterAll(() => platform.stop());

function ask(path: string, headers: Record<string, string> = {}): Promise<Response> {
  const authorization = `Bearer ${account.apiKey}`;
  return fetch(`${platform.apiUrl}/characters${path}`, { headers: { authorization, ...headers } });
}

async function slugs(query: string): Promise<string[]> {
  const { data } = (await (await ask(query)).json()) as { data: { slug: string }[] };
  return data.map(({ slug }) => slug);
}

const USER = { role: 'user', content: 'Hello' };

const chat = (body: object): Promise<Response> =>
  platform.chat(account.apiKey, { model: 'test-model', messages: [USER], max_tokens: 4, ...body });

/** The messages that the backend received for a request. */
async function sentFor(body: object): Promise<unknown> {
  platform.simulator.clearLog();
  expect((await chat(body)).status).toBe(200);
  const sent = JSON.parse(platform.simulator.requests().at(-1)?.body ?? '{}') as { messages: unknown };
  return sent.messages;
}

describe('the reviews of a character', () => {
  it('are an empty page', async () => {
    const response = await ask('/ann/reviews?page=2&pageSize=5');
    expect(response.headers.get('x-pagination-total')).toBe('0');
    expect(await response.json()).toEqual({
      object: 'list',
      data: [],
      pagination: { page: 2, pageSize: 5, total: 0, totalPages: 0 },
      summary: { averageRating: 0, totalReviews: 0 },
    });
    expect((await ask('/nobody/reviews')).status).toBe(404);
    expect((await errorOf(await ask('/ann/reviews?pageSize=101'))).error.param).toBe('pageSize');
  });
});

describe('200', () => {
  it('lists characters to the holder of a key, featured ones first, without their prompts and authors', async () => {
    const response = await ask('');
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).not.toMatch(/You are|Jane/);
    const { data, ...list } = JSON.parse(text) as { object: string; data: unknown[] };
    expect(list).toEqual({ object: 'list' });
    expect(data).toHaveLength(2);
    expect(data[0]).toEqual({
      id: 'ann',
      slug: 'ann',
      name: 'Ann',
      description: 'A sailor',
      author: expect.stringMatching(/^\w{5}$/),
      adult: false,
      featured: true,
      webEnabled: false,
      modelId: 'default',
      photoUrl: null,
      shareUrl: null,
      tags: ['sea'],
      stats: { averageRating: 0, imports: 0, ratingCount: 0, ratingSum: 0, userRating: null },
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: '2026-01-01T00:00:00.000Z',
    });
  });

  it('filters by text, by lists (comma-separated or repeated) and by model, with pages', async () => {
    expect(await slugs('?search=SAIL')).toEqual(['ann']);
    expect(await slugs('?tags=farm,none')).toEqual(['bob']);
    expect(await slugs('?tags=farm&tags=sea')).toEqual(['ann', 'bob']);
    expect(await slugs('?modelId=own')).toEqual(['bob']);
    expect(await slugs('?isAdult=true')).toEqual([]);
    expect(await slugs('?limit=1&offset=1')).toEqual(['bob']);
    expect(await slugs('?sortOrder=asc')).toEqual(['bob', 'ann']);
  });

  it('returns one character', async () => {
    const response = await ask('/bob');
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      object: 'character',
      data: { slug: 'bob', modelId: 'own' },
    });
  });

  it('accepts a key regardless of a wallet header', async () => {
    expect((await ask('', { 'sign-in-with-x': 'nonsense' })).status).toBe(200);
  });

  it('puts the house prompts first, then the prompt of the character, then those of the caller', async () => {
    const body = {
      messages: [{ role: 'system', content: 'Be brief.' }, USER],
      svc_parameters: { character_slug: 'ann' },
    };
    expect(await sentFor(body)).toEqual([
      { role: 'system', content: 'House rules.\n\nYou are Ann.\n\nBe brief.' },
      USER,
    ]);
  });

  it('accepts a character as a suffix, echoes it, and uses the model of the request', async () => {
    const response = await chat({ model: 'test-model:character_slug=bob' });
    expect(await response.json()).toMatchObject({
      model: 'test-model',
      svc_parameters: { character_slug: 'bob', include_venice_system_prompt: true },
    });
  });

  it.each(['include_venice_system_prompt', 'include_svc_system_prompt'])(
    'omits the house prompts if %s is false, and keeps the character',
    async (name) => {
      expect(await sentFor({ svc_parameters: { [name]: false } })).toEqual([USER]);
      expect(await sentFor({ svc_parameters: { [name]: false, character_slug: 'ann' } })).toEqual([
        { role: 'system', content: 'You are Ann.' },
        USER,
      ]);
    },
  );

  it('replaces the default house prompts by those of the model', async () => {
    expect(await sentFor({ model: 'own' })).toEqual([{ role: 'system', content: 'Own rules.' }, USER]);
  });
});

describe('400', () => {
  it.each([
    ['isAdult', 'isAdult=yes'],
    ['sortBy', 'sortBy=beauty'],
    ['sortOrder', 'sortOrder=up'],
    ['limit', 'limit=101'],
    ['limit', 'limit=0'],
    ['offset', 'offset=-1'],
    ['search', `search=${'x'.repeat(201)}`],
    ['tags', `tags=${Array.from({ length: 21 }, (_, index) => `t${index}`).join()}`],
    ['categories.0', `categories=${'x'.repeat(101)}`],
  ])('names %s if it is out of range', async (param, query) => {
    const response = await ask(`?${query}`);
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ code: 'INVALID_REQUEST', error: { param } });
  });
});

describe('401', () => {
  it.each([
    ['no credentials', {}],
    ['a wrong key', { authorization: 'Bearer SVC_INFERENCE_KEY_wrong' }],
    ["a wallet's header alone", { 'sign-in-with-x': 'e30=' }],
  ])('rejects %s', async (_what, headers) => {
    for (const path of ['/characters', '/characters/ann', '/characters/nobody']) {
      const response = await fetch(platform.apiUrl + path, { headers: headers as Record<string, string> });
      expect(response.status).toBe(401);
      expect((await errorOf(response)).code).toBe('AUTHENTICATION_FAILED');
    }
  });
});

describe('404', () => {
  it('rejects an unknown character', async () => {
    const response = await ask('/nobody');
    expect(response.status).toBe(404);
    expect(await errorOf(response)).toMatchObject({
      code: 'CHARACTER_NOT_FOUND',
      error: {
        type: 'not_found_error',
        message: 'No character could be found from the provided character_slug',
      },
    });
  });

  it.each([
    ['a parameter', { svc_parameters: { character_slug: 'nobody' } }],
    ['a suffix', { model: 'test-model:character_slug=nobody' }],
    ['a parameter of a stream', { stream: true, svc_parameters: { character_slug: 'nobody' } }],
  ])('refuses a chat with an unknown character by %s, and releases the hold', async (_how, body) => {
    const { apiKey } = await platform.account('1.00');
    const response = await platform.chat(apiKey, { model: 'test-model', messages: [USER], ...body });
    expect(response.status).toBe(404);
    expect((await errorOf(response)).code).toBe('CHARACTER_NOT_FOUND');
    const next = await platform.chat(apiKey, { model: 'test-model', messages: [USER] });
    expect(next.headers.get('x-svc-balance-usd')).toBe('1.00');
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  });
});

// The processes of a cluster reload the file at different times.
describe.skipIf(isClustered())('the characters file', () => {
  const pathOf = ({ dataDir }: Platform): string => join(dataDir, '..', 'characters.yaml');

  it('is reloaded when it changes, and the previous characters stay if it is invalid', async () => {
    const changed = await Platform.start({ characters: [ANN], hasOwnProcess: true });
    try {
      const { apiKey } = await changed.account();
      const headers = { authorization: `Bearer ${apiKey}` };
      const statusOf = async (slug: string): Promise<number> =>
        (await fetch(`${changed.apiUrl}/characters/${slug}`, { headers })).status;
      await writeFile(pathOf(changed), stringify({ characters: [BOB] }));
      await eventually('bob is there', async () => (await statusOf('bob')) === 200);
      expect(await statusOf('ann')).toBe(404);
      await writeFile(pathOf(changed), 'characters: 7');
      await eventually('the fault is logged', () =>
        changed.service.output.includes('the changed file is invalid'),
      );
      expect(await statusOf('bob')).toBe(200);
    } finally {
      await changed.stop();
    }
  });

  it('with errors ends the start, reporting every error', async () => {
    const characters = [ANN, { slug: 'Not A Slug', name: 'X', systemPrompt: '' }];
    const fault = await Platform.start({ characters, hasOwnProcess: true }).catch(String);
    expect(fault).toMatch(/it ended with 1:/);
    expect(fault).toContain('characters.1.slug');
    expect(fault).toContain('characters.1.systemPrompt');
  });

  it('ends the start if it is configured and missing', async () => {
    const fault = await Platform.start({ env: { SVC_CHARACTERS: '/nowhere/characters.yaml' } }).catch(String);
    expect(fault).toMatch(/it ended with 1:\s+\/nowhere\/characters\.yaml: no such file/);
  });

  it('in the repository is valid', async () => {
    const text = await readFile(new URL('../../../../characters.yaml', import.meta.url), 'utf8');
    expect(CharactersFile.parse(parse(text)).characters.length).toBeGreaterThan(2);
  });
});
