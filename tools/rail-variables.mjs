// The variables of payment rails in the chart and in the compose file.

/** The first rail was the only one when its keys were named. */
const UNNAMED = 'X402_EVM';

/** Each variable that the chart takes from the Secret of payments, with its key there. */
export const secretKeys = (kinds) =>
  Object.fromEntries(
    kinds.flatMap(({ prefix }) => {
      const rail = prefix
        .replace(/^X402_/, '')
        .toLowerCase()
        .replaceAll('_', '-');
      const start = prefix === UNNAMED ? '' : `${rail}-`;
      return [
        [`${prefix}_SIGNER_KEY_FILE`, `${start}signer-key`],
        [`${prefix}_RPC_URL`, `${start}rpc-url`],
      ];
    }),
  );

const OF_RAILS = /( *# Of each rail: .*\n)(?: *X402_\w+_(?:RPC_URL|PAY_TO|SIGNER_KEY): .*\n)*/;

/** The compose file with the variables of these rails. */
export function withRails(compose, kinds) {
  if (!OF_RAILS.test(compose)) throw new Error('the compose file has no place for the variables of rails');
  const variables = kinds.flatMap(({ prefix }) =>
    ['RPC_URL', 'PAY_TO', 'SIGNER_KEY'].map((name) => `${prefix}_${name}`),
  );
  const lines = variables.map((name) => `      ${name}: \${${name}:-}\n`);
  return compose.replace(OF_RAILS, (_all, note) => note + lines.join(''));
}
