import yargs, { type Argv } from 'yargs';
import { optionsOf, valueOf } from './command-options.js';
import { newCustomer } from './new-customer.js';
import { OperatorClient } from './operator-client.js';
import { type RouteCommand, VERB_MEANINGS, routeCommands, withVerb } from './route-commands.js';
import { harmless, tablesOf } from './tables.js';

export interface CliSettings {
  readonly args: readonly string[];
  readonly url: string;
  /** Not needed for help and completion. */
  readonly token: string | undefined;
  readonly write: (text: string) => void;
  readonly warn: (text: string) => void;
}

type Arguments = Readonly<Record<string, unknown>>;

/** Runs a command. Returns the exit code. */
export async function runCli(settings: CliSettings): Promise<number> {
  const { write, warn } = settings;
  const commands = routeCommands();
  const args = withVerb(settings.args, commands);
  let parser: Argv = yargs(args)
    .scriptName('svcctl')
    .usage('$0 VERB NAME [ARGUMENTS] [OPTIONS]')
    .option('url', { type: 'string', default: settings.url, describe: "Where the operator's API listens" })
    .option('json', { type: 'boolean', describe: 'Print the response as it is' })
    .option('csv', { type: 'boolean', describe: 'Print CSV, where the API offers it' })
    .strict()
    .version(false)
    .exitProcess(false)
    .recommendCommands()
    .completion('completion', 'Prints a script that completes commands in bash or zsh')
    .demandCommand(1, 'Which verb?')
    .fail((message, error) => {
      throw error ?? new Error(message);
    });
  for (const verb of new Set([...VERB_MEANINGS.keys(), ...commands.map((command) => command.verb)]))
    parser = withCommands(parser, verb, {
      settings,
      commands: commands.filter((command) => command.verb === verb),
    });
  parser = withCustomer(parser, settings);
  try {
    await parser.parseAsync(args, {}, (_error, _argv, output) => {
      if (output !== '') write(output);
    });
    return 0;
  } catch (error) {
    warn((error as Error).message.split('\n').map(harmless).join('\n'));
    return 1;
  }
}

interface VerbCommands {
  readonly settings: CliSettings;
  readonly commands: readonly RouteCommand[];
}

function withCommands(parser: Argv, verb: string, { settings, commands }: VerbCommands): Argv {
  const [first] = commands;
  if (!first) return parser;
  return parser.command(verb, VERB_MEANINGS.get(verb) ?? first.route.summary, (inner) => {
    for (const command of commands) withRoute(inner, command, settings);
    return inner.demandCommand(1, `${verb} what?`);
  });
}

function withRoute(parser: Argv, { name, params, route }: RouteCommand, settings: CliSettings): void {
  const options = optionsOf(route.body ?? route.query);
  parser.command(
    [name, ...params.map((param) => `<${param}>`)].join(' '),
    route.summary,
    (inner) => {
      for (const param of params) inner.positional(param, { type: 'string' });
      for (const { name: option, type, description, choices, isRequired } of options)
        inner.option(option, {
          type: type === 'boolean' ? 'boolean' : 'string',
          describe: description,
          demandOption: isRequired,
          ...(choices.length > 0 && { choices }),
        });
    },
    async (given: Arguments) => {
      const members = Object.fromEntries(
        options
          .filter((option) => given[option.name] !== undefined)
          .map((option) => [option.member, valueOf(option, given[option.name])]),
      );
      const asCsv = given['csv'] === true && route.csv === true;
      const client = clientOf(settings, given);
      const call = {
        params: Object.fromEntries(params.map((param) => [param, String(given[param])])),
        members,
      };
      if (asCsv) settings.write((await client.text(route, { ...call, accept: 'text/csv' })).trimEnd());
      else if (route.replyType === undefined) settings.write(shown(await client.json(route, call), given));
      else settings.write((await client.text(route, { ...call, accept: '*/*' })).trimEnd());
    },
  );
}

function withCustomer(parser: Argv, settings: CliSettings): Argv {
  return parser.command(
    'customer <name>',
    'Opens an account for a paying customer, credits it, and creates its first key',
    (inner) =>
      inner
        .positional('name', { type: 'string', demandOption: true })
        .option('usd', { type: 'string', demandOption: true, describe: 'What the customer has paid' })
        .option('reference', { type: 'string', demandOption: true, describe: 'Your name of the payment' })
        .option('tier', { choices: ['standard', 'partner'] as const, default: 'standard' as const })
        .option('description', { type: 'string', default: 'first key', describe: 'Of the key' }),
    async (given) => {
      const { name, usd, reference, tier, description } = given;
      const customer = { name, usd, reference, tier, description };
      settings.write(shown(await newCustomer(clientOf(settings, given), customer), given));
    },
  );
}

function clientOf({ token }: CliSettings, { url }: Arguments): OperatorClient {
  if (token === undefined)
    throw new Error('Set SVC_OPERATOR_TOKEN, or run this where the platform keeps .svc/operator-token.');
  return new OperatorClient({ url: String(url), token });
}

/** JSON escapes what controls a terminal, except for some that it allows. */
const shown = (value: unknown, { json }: Arguments): string =>
  json === true
    ? JSON.stringify(value, undefined, 2).replaceAll(
        /[\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g,
        (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )
    : tablesOf(value);
