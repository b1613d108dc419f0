// The rooms of each library: the folders of its `src/`, from the bottom up, each with the rooms it may import.
// A room names only rooms that stand before it, so there are no circles. The files in `src/` itself stand above
// all rooms and may import any. The row '.' names those of them that rooms may import; they import no room.
// A library without a row has no folders.

/** Production files in one folder; tests are not counted. */
export const maxFiles = 20;

export const rooms = {
  contracts: {
    problems: [],
    money: [],
    catalog: [],
    messages: ['money'],
    ports: ['problems', 'money', 'messages'],
    'http/route': ['problems'],
    'http/chat': [],
    'http/models': ['catalog'],
    'http/characters': [],
    'http/keys': ['money', 'ports', 'http/route'],
    'http/billing': ['http/route'],
    'http/limits': ['messages', 'ports', 'http/route'],
    'http/operator': ['money', 'http/route', 'http/keys'],
    http: [
      'http/route',
      'http/chat',
      'http/models',
      'http/characters',
      'http/keys',
      'http/billing',
      'http/limits',
      'http/operator',
    ],
    openapi: [
      'problems',
      'catalog',
      'http/route',
      'http/chat',
      'http/models',
      'http/characters',
      'http/billing',
      'http/operator',
      'http',
    ],
  },
  gateway: {
    '.': ['gateway.config'],
    json: [],
    tokens: ['json'],
    limits: [],
    auth: ['limits'],
    keys: ['limits', 'auth'],
    models: [],
    http: ['models'],
    request: ['json', 'tokens', 'limits', 'models'],
    holds: ['tokens', 'limits', 'http', 'request'],
    answer: ['json', 'tokens', 'http', 'request', 'holds'],
    chat: ['http', 'request', 'holds', 'answer'],
    billing: ['auth'],
    operator: ['limits', 'auth', 'keys'],
    docs: ['http'],
  },
  ledger: {
    '.': ['ledger.config', 'clock'],
    accounts: [],
    holds: ['accounts'],
    posting: ['accounts', 'holds'],
    audit: ['accounts'],
    books: ['accounts', 'holds', 'posting', 'audit'],
    staking: ['accounts', 'holds', 'posting'],
    usage: [],
  },
  limiter: {
    counting: [],
    fallback: ['counting'],
    log: [],
    api: ['counting'],
  },
  retrieval: {
    documents: [],
  },
  runtime: {
    '.': ['start-fault', 'version', 'within'],
    logging: [],
    catalog: ['logging'],
    http: ['logging'],
    process: ['logging', 'http'],
  },
  simulator: {
    '.': ['random', 'tokenizer'],
    http: [],
    request: ['http'],
    answer: ['request'],
    engine: ['http', 'request', 'answer'],
  },
  storage: {
    '.': ['logger'],
    redis: [],
    sql: [],
    server: [],
  },
};
