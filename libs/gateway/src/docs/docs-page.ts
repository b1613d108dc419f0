import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { codeSamples } from '@svc/openapi';
import { VERSION } from '@svc/runtime';
import { PublishedText } from '@svc/paid/http';

const require = createRequire(import.meta.url);

/** Shows how each operation is called, below its parameters. */
const START = `const LANGUAGES = { curl: 'curl', python: 'Python', javascript: 'JavaScript' };

const samplesPlugin = (samples) => () => ({
  wrapComponents: {
    responses: (Original, { React, specSelectors }) => {
      const h = React.createElement;
      const Samples = ({ texts }) => {
        const [chosen, choose] = React.useState('curl');
        const tabs = Object.entries(LANGUAGES).map(([id, name]) =>
          h('button', { key: id, type: 'button', 'aria-pressed': id === chosen, onClick: () => choose(id) }, name),
        );
        return h('section', { className: 'samples', 'aria-label': 'Samples' },
          h('div', { className: 'opblock-section-header' }, h('h4', null, 'Samples'), tabs),
          h('pre', { tabIndex: 0 }, texts[chosen]),
        );
      };
      return (props) => {
        const id = specSelectors.specJson().getIn(['paths', props.path, props.method, 'operationId']);
        return h(React.Fragment, null, samples[id] && h(Samples, { texts: samples[id] }), h(Original, props));
      };
    },
  },
});

const show = (samples) => SwaggerUIBundle({
  url: 'api/v1/openapi.yaml',
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 3,
  validatorUrl: null,
  plugins: [samplesPlugin(samples)],
});

// The samples name the address that this page was loaded from.
const placed = ([id, texts]) =>
  [id, Object.fromEntries(Object.entries(texts).map(([language, text]) => [language, text.replaceAll('SVC_ADDRESS', location.origin)]))];

fetch(document.currentScript.src.replace('start.js', 'samples.json'))
  .then((response) => response.json())
  .then((samples) => show(Object.fromEntries(Object.entries(samples).map(placed))))
  .catch(() => show({}));
`;

const STYLE = `body { margin: 0; }
.swagger-ui .info { margin: 32px 0; }
.swagger-ui .scheme-container { padding: 16px 0; margin-bottom: 8px; }
.swagger-ui .response-col_links { display: none; }
.swagger-ui .headers td { font-weight: 400; padding: 4px 8px 4px 0; vertical-align: top; }
.swagger-ui .headers td:not(:first-child) { font-family: sans-serif; }
.swagger-ui .headers .markdown p { margin: 0; }
.swagger-ui .samples button { font: inherit; padding: 6px 12px; margin-left: 4px; border: 1px solid #888; border-radius: 4px; background: #fff; }
.swagger-ui .samples button[aria-pressed=true] { background: #333; color: #fff; }
.swagger-ui .samples pre { margin: 0 20px 16px; padding: 12px; overflow: auto; max-height: 32em; background: #333; color: #fff; }
`;

const SCRIPT = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const JSON_TEXT = 'application/json; charset=utf-8';

const fileText = (path: string) => (): Promise<string> => readFile(path, 'utf8');

/** Every file that the page loads. Only these are served, whatever the path. */
const ASSETS = new Map<string, { type: string; text: () => Promise<string> }>([
  ['swagger-ui.css', { type: CSS, text: fileText(require.resolve('swagger-ui-dist/swagger-ui.css')) }],
  [
    'swagger-ui-bundle.js',
    { type: SCRIPT, text: fileText(require.resolve('swagger-ui-dist/swagger-ui-bundle.js')) },
  ],
  [
    'samples.json',
    { type: JSON_TEXT, text: () => Promise.resolve(JSON.stringify(codeSamples('SVC_ADDRESS'))) },
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
