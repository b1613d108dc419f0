import { expect, it } from 'vitest';
import { routes } from '../routes.js';
import type { RouteDefinition } from '../route/route-definition.js';

const ofOperators = Object.values<RouteDefinition>(routes).filter(({ access }) =>
  ['operator', 'process'].includes(access),
);

it('a token with only the scope `read` changes nothing', () => {
  const changing = ofOperators.filter(({ method }) => method !== 'GET');
  expect(changing.length).toBeGreaterThan(5);
  expect(changing.filter(({ scope }) => scope === undefined)).toEqual([]);
});

it('a token with only the scope `read` reads everything', () => {
  const reading = ofOperators.filter(({ method }) => method === 'GET');
  expect(reading.filter(({ scope }) => scope !== undefined)).toEqual([]);
});
