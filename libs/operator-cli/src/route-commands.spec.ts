import type { RouteDefinition } from '@svc/api/route';
import { routes } from '@svc/api';
import { expect, it } from 'vitest';
import { optionsOf } from './command-options.js';
import { routeCommands, withVerb } from './route-commands.js';

/** Options of every command, which no route may have. */
const OWN = ['url', 'json', 'csv', 'help', 'version'];

it("makes one command of each route of the operator's API, each with a name of its own", () => {
  const all = Object.values<RouteDefinition>(routes).filter(({ path }) => path.startsWith('/operator/'));
  const commands = routeCommands();
  expect(commands.map(({ route }) => route)).toEqual(all);
  const names = commands.map(({ verb, name }) => `${verb} ${name}`);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names)
    expect(name).toMatch(/^(get|create|set|change|delete|retry|resolve|end|rotate|test|replay) [a-z.-]+$/);
  expect(names).toEqual(
    expect.arrayContaining([
      'get accounts',
      'get account',
      'create account',
      'create account-credit',
      'create account-api-key',
      'delete account-suspension',
      'get ledger-month',
      'resolve payment',
      'end job',
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
  expect(options('resolve payment').get('reason')?.isRequired ?? true).toBe(true);
});

it('reads a name without a verb as what is to be shown', () => {
  const commands = routeCommands();
  expect(withVerb(['accounts', '--search', 'acme'], commands)).toEqual([
    'get',
    'accounts',
    '--search',
    'acme',
  ]);
  expect(withVerb(['--get-yargs-completions', 'svcctl', 'jobs', '--'], commands)[2]).toBe('get');
  for (const args of [[], ['end', 'job', 'x'], ['get', 'accounts'], ['customer', 'accounts'], ['completion']])
    expect(withVerb(args, commands)).toEqual(args);
});

it('has no name that is also a verb, since the two could not be distinguished', () => {
  const commands = routeCommands();
  const verbs = new Set([...commands.map(({ verb }) => verb), 'customer', 'completion']);
  expect(commands.filter(({ name }) => verbs.has(name))).toEqual([]);
});
