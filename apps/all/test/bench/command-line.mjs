import { parseArgs } from 'node:util';

/**
 * Reads the command line of a bench: `usage` is its help, `options` are those of `parseArgs`, and `read`
 * turns their values into settings. Prints the usage and exits for `--help`, and if a value is invalid.
 */
export function readCommandLine(usage, options, read) {
  try {
    const help = { type: 'boolean', short: 'h', default: false };
    const { values } = parseArgs({ allowNegative: true, options: { ...options, help } });
    if (!values.help) return read(values);
    console.log(usage);
    return process.exit(0);
  } catch (error) {
    console.error(`${error.message}\n\n${usage}`);
    return process.exit(2);
  }
}

/** The value of an option that is a whole number from 1. Throws for any other. */
export function count(name, text, most) {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > most)
    throw new Error(`--${name} must be a whole number from 1 to ${most}`);
  return number;
}

/** The counts of a bench: those that are given, and the usual ones. */
export function counts(values, { usual, most }) {
  return Object.fromEntries(
    Object.entries(usual).map(([name, number]) => [
      name,
      values[name] === undefined ? number : count(name, values[name], most[name]),
    ]),
  );
}
