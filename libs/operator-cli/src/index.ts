export { type CliSettings, runCli } from './cli.js';
export { routeCommands } from './route-commands.js';
