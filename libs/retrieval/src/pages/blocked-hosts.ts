/** Hosts of which no page is read, each with all below it. */
export class BlockedHosts {
  private readonly names: ReadonlySet<string>;

  /** @param list Names of hosts, by commas. */
  constructor(list: string) {
    this.names = new Set(list.split(',').filter((name) => name !== ''));
  }

  /** The name by which a host is blocked, where it is. */
  blocking({ hostname }: URL): string | undefined {
    const labels = hostname.replace(/\.$/, '').split('.');
    return labels.map((_, index) => labels.slice(index).join('.')).find((name) => this.names.has(name));
  }
}
