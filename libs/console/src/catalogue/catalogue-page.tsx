import type { ReplyAt } from '../api/routes.js';
import { ask } from '../desk/operator.js';
import { DataTable } from '../ui/data-table.js';
import { useResource } from '../ui/resource.js';
import { Loaded } from '../ui/states.js';
import { Tabs } from '../ui/tabs.js';
import { Time } from '../ui/time.js';
import { CatalogueCheck } from './catalogue-check.js';
import { type CatalogueRow, rowsOf } from './catalogue-rows.js';

type InForce = ReplyAt<'GET', '/operator/v1/catalog'>;

const Facts = ({ file }: { readonly file: InForce }) => (
  <section class="card stack" aria-label="In force">
    <h2>In force</h2>
    {file.rejected && (
      <p class="note danger">
        The file as it is now is not in force, since <Time at={file.rejected.at} />: {file.rejected.reason}
      </p>
    )}
    <dl class="facts">
      <dt>Version</dt>
      <dd class="mono">{file.hash}</dd>
      <dt>Since</dt>
      <dd>
        <Time at={file.since} />
        {file.from === 'last-good' && ', as the last good version, because the file was broken at the start'}
      </dd>
      <dt>Last changes</dt>
      <dd>
        {file.changes.length === 0 ? (
          'None since the start of this process'
        ) : (
          <ul class="lines">
            {file.changes.map((change) => (
              <li key={change}>{change}</li>
            ))}
          </ul>
        )}
      </dd>
    </dl>
  </section>
);

const Models = ({ rows }: { readonly rows: readonly CatalogueRow[] }) => (
  <DataTable
    caption="Models of the catalogue"
    rows={rows}
    keyOf={({ id, type }) => `${type} ${id}`}
    columns={[
      {
        title: 'Model',
        cell: ({ id, names }) => (
          <span>
            <strong class="mono">{id}</strong>
            {names !== '' && (
              <>
                <br />
                <small>{names}</small>
              </>
            )}
          </span>
        ),
        sortBy: ({ id }) => id,
      },
      { title: 'Type', cell: ({ type }) => type, sortBy: ({ type }) => type },
      { title: 'Prices in USD', cell: ({ prices }) => <small>{prices}</small> },
      {
        title: 'Backends',
        cell: ({ backends }) => backends,
        sortBy: ({ backends }) => backends,
        isNumeric: true,
      },
    ]}
  />
);

/** The models and prices in force, and what another catalogue would change. */
export function CataloguePage() {
  const file = useResource((signal) => ask('GET', '/operator/v1/catalog', { signal }), []);
  return (
    <Tabs
      label="Catalogue"
      tabs={[
        {
          title: 'In force',
          content: () => (
            <Loaded resource={file} rows={10}>
              {(value) => (
                <div class="stack">
                  <Facts file={value} />
                  <section class="card" aria-label="Models">
                    <Models rows={rowsOf(value.content)} />
                  </section>
                </div>
              )}
            </Loaded>
          ),
        },
        { title: 'What a change would do', content: () => <CatalogueCheck /> },
      ]}
    />
  );
}
