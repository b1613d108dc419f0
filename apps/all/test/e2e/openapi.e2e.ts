import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OPERATOR_TOKEN, Platform } from '../platform.js';

interface Document {
  info: { version: string };
  paths: Record<string, unknown>;
}

let platform: Platform;
let document: Document;
let response: Response;

beforeAll(async () => {
  platform = await Platform.start();
  response = await fetch(`${platform.apiUrl}/openapi.yaml`);
  document = parse(await response.text()) as Document;
});

afterAll(() => platform.stop());

describe('200', () => {
  it('serves the description to anybody as YAML, compressed where that is asked for', async () => {
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/yaml');
    const plain = await fetch(`${platform.apiUrl}/openapi.yaml`, {
      headers: { 'accept-encoding': 'identity' },
    });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(parse(await plain.text())).toEqual(document);
  });

  it('is valid OpenAPI 3.1', async () => {
    expect(await new Validator().validate(structuredClone(document) as never)).toMatchObject({ valid: true });
  });

  it('has the revision of the build, and else what is kept in version control', () => {
    expect(document.info.version).toBe(response.headers.get('x-svc-version'));
    const file = new URL('../../../../libs/contracts/openapi.yaml', import.meta.url);
    const kept = parse(readFileSync(file, 'utf8')) as Document;
    expect({ ...document, info: { ...document.info, version: kept.info.version } }).toEqual(kept);
  });

  it('describes the API of the operator to the operator', async () => {
    const authorization = `Bearer ${OPERATOR_TOKEN}`;
    const answer = await fetch(`${platform.operatorUrl}/openapi.yaml`, { headers: { authorization } });
    expect(answer.status).toBe(200);
    const { paths } = parse(await answer.text()) as Document;
    expect(Object.keys(paths)).toContain('/operator/v1/accounts/{id}/credits');
  });
});

describe('401', () => {
  it('does not describe the API of the operator to others', async () => {
    expect((await fetch(`${platform.operatorUrl}/openapi.yaml`)).status).toBe(401);
  });
});
