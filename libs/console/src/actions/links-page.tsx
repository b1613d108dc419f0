import { ask } from '../desk/operator.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';

/** Other pages that operators use, such as dashboards and runbooks. */
export function LinksPage() {
  const links = useResource(async (signal) => (await ask('GET', '/operator/v1/links', { signal })).data, []);
  return (
    <section class="card" aria-label="Links">
      <Loaded resource={links} rows={3}>
        {(data) =>
          data.length === 0 ? (
            <Empty title="No links">
              <span>
                Set <code>SVC_OPERATOR_LINKS</code> to the addresses of your dashboards and runbooks.
              </span>
            </Empty>
          ) : (
            <ul class="lines">
              {data.map(({ name, url }) => (
                <li key={name}>
                  <a href={url} target="_blank" rel="noopener noreferrer">
                    {name}
                  </a>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}
