import { routerConformance } from '../test/inference-router.conformance.js';
import { quickRouter } from '../test/routing.js';

routerConformance('LocalRouter', (catalog) => Promise.resolve(quickRouter(catalog)));
