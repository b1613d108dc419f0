/** A built-in page of the search simulator. */
export interface BuiltInPage {
  readonly slug: string;
  readonly title: string;
  /** ISO 8601. */
  readonly publishedDate: string;
  readonly text: string;
}

/** Included in every result and page, so that nobody mistakes them for the real web. */
export const SIMULATED = '[Simulated search result]';

/** A few pages about the platform itself. */
export const PAGES: readonly BuiltInPage[] = [
  {
    slug: 'exact-money',
    title: 'Exact money: holds before the first token, a charge after the last',
    publishedDate: '2026-02-03T09:00:00Z',
    text: 'The inference platform sets money aside before an answer begins and charges what was delivered when it ends. The cost in a response equals, to the nano-dollar, what the ledger posts, and a balance never goes below zero. A stream holds a little ahead of its tokens; when the money ends, the answer ends with finish_reason length.',
  },
  {
    slug: 'exact-limits',
    title: 'Exact limits over any number of replicas',
    publishedDate: '2026-02-10T09:00:00Z',
    text: 'A limit of N requests per minute admits N, over any number of gateways. Windows are fixed minutes for requests and tokens per account and model. Where the shared counter does not respond, a gateway admits from a small share of its own and says so.',
  },
  {
    slug: 'web-search',
    title: 'Web search: answers that rest on pages, with citations',
    publishedDate: '2026-03-01T09:00:00Z',
    text: 'With enable_web_search set to on the platform searches the web before the model answers. With enable_web_citations the answer marks its sources as numbers between REF marks, which index web_search_citations in the echo of svc_parameters. A search that fails costs nothing, and the answer goes on without it.',
  },
  {
    slug: 'streaming',
    title: 'Streaming: events, keep-alive and the last chunk',
    publishedDate: '2026-03-08T09:00:00Z',
    text: 'A streamed answer is server-sent events that end with [DONE]. Usage and cost stand on the chunk that finishes the last choice, or in a chunk of their own where stream_options asks for it. While nothing flows for fifteen seconds a comment keeps the connection alive.',
  },
  {
    slug: 'model-simulator',
    title: 'The model simulator: an OpenAI-compatible server without a model',
    publishedDate: '2026-03-15T09:00:00Z',
    text: 'The simulator answers chat completions with the same tokens for the same request and seed, fails on request, and logs each request. It also speaks the JSON of SearXNG on a few built-in pages about the platform, of which this is one.',
  },
  {
    slug: 'one-process',
    title: 'Two shapes, one code: a single process or six services',
    publishedDate: '2026-04-02T09:00:00Z',
    text: 'The platform runs as one Node process on an embedded PostgreSQL, or as six services with any number of replicas on Kafka, Redis and PostgreSQL. An operator moves from one to the other by configuration.',
  },
  {
    slug: 'wallets',
    title: 'Wallet payments in USDC with x402',
    publishedDate: '2026-04-20T09:00:00Z',
    text: 'A caller without an account may pay from a wallet: a request without credentials is answered by 402 with terms of payment, credit is bought in USDC, and the credit is exactly the amount settled on chain.',
  },
  {
    slug: 'files',
    title: 'Files as text: PDF, DOCX, PPTX, XLSX and EPUB',
    publishedDate: '2026-05-11T09:00:00Z',
    text: 'Files in a message are read in threads with bounds on time and memory, and reach the model as plain text or Markdown. A file that cannot be read says so in its place and the request goes on. Text in images is not read.',
  },
];
