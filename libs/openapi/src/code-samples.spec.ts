import type { RouteDefinition } from '@svc/api/route';
import { routes } from '@svc/api';
import { describe, expect, it } from 'vitest';
import { codeSamples } from './code-samples.js';
import { openApiDocument } from './openapi.js';
import { SAMPLE_BODIES } from './sample-bodies.js';

interface DescribedOperation {
  readonly operationId: string;
  readonly requestBody?: { readonly required: boolean };
}

const { paths } = openApiDocument({ audience: 'public', version: '20261121.000000' }) as unknown as {
  paths: Record<string, Record<string, DescribedOperation>>;
};
const operations = Object.values(paths).flatMap(Object.values<DescribedOperation>);
const UPLOAD = { name: 'file.bin', type: 'application/octet-stream', bytes: new Uint8Array([1]) };
const samples = codeSamples('http://127.0.0.1:3000');

describe('the samples', () => {
  it('are there for each operation of the description, without an open parameter', () => {
    expect(Object.keys(samples).toSorted()).toEqual(
      operations.map(({ operationId }) => operationId).toSorted(),
    );
    for (const { curl, python, javascript } of Object.values(samples))
      for (const text of [curl, python, javascript])
        expect(text).not.toMatch(/undefined|\/:|\/\*|\/\/"|[?&]\w+=["&]/);
  });

  it('have a body if the operation requires one', () => {
    const bodiless = operations.filter(
      ({ operationId, requestBody }) =>
        requestBody?.required === true && !/ -d | -F /.test(samples[operationId]?.curl ?? ''),
    );
    expect(bodiless.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('have bodies that their operation takes', () => {
    const byId = new Map(Object.values<RouteDefinition>(routes).map((route) => [route.operationId, route]));
    const faults = Object.entries(SAMPLE_BODIES).flatMap(([operationId, { json, fields, files }]) => {
      const uploads = Object.fromEntries(Object.keys(files ?? {}).map((name) => [name, UPLOAD]));
      const read = byId.get(operationId)?.body?.safeParse(json ?? { ...fields, ...uploads });
      return read?.success === true ? [] : [{ operationId, issues: read?.error.issues }];
    });
    expect(faults).toEqual([]);
  });

  it('are as a reader would write them', () => {
    expect(samples['createEmbeddings']).toEqual({
      curl: `curl "http://127.0.0.1:3000/api/v1/embeddings" \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{
  "model": "bge-m3",
  "input": [
    "A text",
    "Another text"
  ]
}'`,
      python: `import os
import requests

response = requests.post(
    "http://127.0.0.1:3000/api/v1/embeddings",
    headers={"Authorization": f"Bearer {os.environ['SVC_API_KEY']}"},
    json={
        "model": "bge-m3",
        "input": ["A text", "Another text"],
    },
)
response.raise_for_status()
print(response.json())`,
      javascript: `const response = await fetch('http://127.0.0.1:3000/api/v1/embeddings', {
  method: 'POST',
  headers: { Authorization: \`Bearer \${process.env.SVC_API_KEY}\`, 'Content-Type': 'application/json' },
  body: JSON.stringify({
    "model": "bge-m3",
    "input": [
      "A text",
      "Another text"
    ]
  }),
});
if (!response.ok) throw new Error(await response.text());
console.log(await response.json());`,
    });
  });
});
