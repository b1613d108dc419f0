// Alerts about the operator's files, the catalogue and the characters, in the format of `alerts.mjs`.
import { m } from './names.mjs';
import { counter, flat } from './series.mjs';

const FILES = [
  {
    file: 'Catalog',
    what: 'catalogue',
    info: m.operatorFiles.catalog,
    invalid: m.operatorFiles.catalogInvalid,
  },
  {
    file: 'Characters',
    what: 'file of characters',
    info: m.operatorFiles.characters,
    invalid: m.operatorFiles.charactersInvalid,
  },
];

const hashed = (info, instance, hash) => flat(counter(info, `instance="${instance}",hash="${hash}"`), 1);

export const fileAlerts = FILES.flatMap(({ file, what, info, invalid }) => [
  {
    name: `${file}Invalid`,
    severity: 'warning',
    expr: `max by (job, instance) (${invalid}) == 1`,
    needs: 'parsed',
    for: '1m',
    summary: `{{ $labels.job }} at {{ $labels.instance }} refused the ${what}, and an earlier one is in force.`,
    runbook: 'catalog-invalid',
    fires: [flat(counter(invalid), 1)],
    quiet: [flat(counter(invalid), 0)],
  },
  {
    name: `${file}Differs`,
    severity: 'warning',
    // Processes read the file again within a minute; an upgrade takes longer.
    expr: `count(count by (hash) (${info} == 1)) > 1`,
    needs: 'parsed',
    for: '15m',
    summary: `Processes have {{ $value }} versions of the ${what} in force: prices and models depend on who serves.`,
    runbook: 'catalog-invalid',
    fires: [hashed(info, 'a', 'one'), hashed(info, 'b', 'two')],
    quiet: [hashed(info, 'a', 'one'), hashed(info, 'b', 'one')],
    at: '40m',
  },
]);
