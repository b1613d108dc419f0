import { z } from 'zod';
import { SerialisingRetrieval } from '../test/serialising-retrieval.js';
import { LocalRetrieval } from './local-retrieval.js';
import { retrievalConfig } from './retrieval.config.js';
import { retrievalConformance } from './retrieval.conformance.js';

const config = z.object(retrievalConfig).parse({});
const local = new LocalRetrieval(config);
retrievalConformance({ name: 'in threads of this process', retrieval: local, stop: () => local.close() });

const inner = new LocalRetrieval(config);
retrievalConformance({
  name: 'over a wire',
  retrieval: new SerialisingRetrieval(inner),
  stop: () => inner.close(),
});
