import { type RouteDefinition, routes } from '@svc/contracts';
import { expect, it } from 'vitest';
import { optionsOf } from './command-options.js';
import { routeCommands } from './route-commands.js';

/** Options of every command, which no route may have. */
const OWN = ['url', 'json', 'csv', 'help', 'version'];

it("makes one command of each route of the operator's API, each with a name of its own", () => {
  const all = Object.values<RouteDefinition>(routes).filter(({ path }) => path.startsWith('/operator/'));
  const commands = routeCommands();
  expect(commands.map(({ route }) => route)).toEqual(all);
  const names = commands.map(({ verb, name }) => `${verb} ${name}`);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^(get|create|set|change|delete) [a-z.-]+$/);
  expect(names).toEqual(
    expect.arrayContaining([
      'get accounts',
      'get account',
      'create account',
      'create account-credit',
      'create account-api-key',
      'delete account-suspension',
      'get ledger-month',
    ]),
  );
});

it('has an option for each member of a query or body, and none that a command has anyway', () => {
  for (const { name, params, route } of routeCommands()) {
    const schema = route.body ?? route.query;
    const options = optionsOf(schema).map((option) => option.name);
    expect([name, options.length > 0]).toEqual([name, schema !== undefined]);
    expect(options.filter((option) => [...OWN, ...params].includes(option))).toEqual([]);
  }
});

it('knows the types, the choices and what is required', () => {
  const options = (name: string) =>
    new Map(
      optionsOf(
        routeCommands().find((command) => `${command.verb} ${command.name}` === name)?.route.body,
      ).map((option) => [option.name, option]),
    );
  expect(options('create account').get('tier')).toMatchObject({ type: 'string', isRequired: false });
  expect(options('create account').get('tier')?.choices).toEqual(['standard', 'partner']);
  expect(options('create account').get('paid')?.type).toBe('boolean');
  expect(options('create account-debit').get('usd')).toMatchObject({ type: 'string', isRequired: true });
  expect(options('set account-limits').get('models')?.type).toBe('json');
  expect(options('create payment-resolve').get('reason')?.isRequired ?? true).toBe(true);
});
