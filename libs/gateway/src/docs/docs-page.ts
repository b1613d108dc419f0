import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { VERSION } from '@svc/runtime';
import { PublishedText } from '@svc/paid/http';

const require = createRequire(import.meta.url);

const START = `SwaggerUIBundle({
  url: 'api/v1/openapi.yaml',
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 3,
  validatorUrl: null,
});
`;

const STYLE = `body { margin: 0; }
.swagger-ui .info { margin: 32px 0; }
.swagger-ui .scheme-container { padding: 16px 0; margin-bottom: 8px; }
.swagger-ui .response-col_links { display: none; }
.swagger-ui .headers td { font-weight: 400; padding: 4px 8px 4px 0; vertical-align: top; }
.swagger-ui .headers td:not(:first-child) { font-family: sans-serif; }
.swagger-ui .headers .markdown p { margin: 0; }
`;

const SCRIPT = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';

const fileText = (path: string) => (): Promise<string> => readFile(path, 'utf8');

/** Every file that the page loads. Only these are served, whatever the path. */
const ASSETS = new Map<string, { type: string; text: () => Promise<string> }>([
  ['swagger-ui.css', { type: CSS, text: fileText(require.resolve('swagger-ui-dist/swagger-ui.css')) }],
  [
    'swagger-ui-bundle.js',
    { type: SCRIPT, text: fileText(require.resolve('swagger-ui-dist/swagger-ui-bundle.js')) },
  ],
  ['page.css', { type: CSS, text: () => Promise.resolve(STYLE) }],
  ['start.js', { type: SCRIPT, text: () => Promise.resolve(START) }],
]);

const loaded = new Map<string, Promise<PublishedText>>();

/** A file of the page, read on first request; undefined for an unknown name. */
export function docsAsset(name: string): Promise<PublishedText | undefined> {
  const asset = ASSETS.get(name);
  if (!asset) return Promise.resolve(undefined);
  const text = loaded.get(name) ?? publish(asset);
  loaded.set(name, text);
  return text;
}

async function publish({
  type,
  text,
}: {
  type: string;
  text: () => Promise<string>;
}): Promise<PublishedText> {
  // The URL of each file contains the revision of this build, so its content never changes.
  const headers = { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' };
  return new PublishedText(await text(), headers);
}

/** Prevents loading anything from elsewhere. */
export const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const DOCS_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Svc API</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs/swagger-ui.css?v=${VERSION}">
    <link rel="stylesheet" href="docs/page.css?v=${VERSION}">
  </head>
  <body>
    <main id="docs"></main>
    <noscript>This page needs JavaScript. The description is at <a href="api/v1/openapi.yaml">api/v1/openapi.yaml</a>.</noscript>
    <script src="docs/swagger-ui-bundle.js?v=${VERSION}"></script>
    <script src="docs/start.js?v=${VERSION}"></script>
  </body>
</html>
`;
