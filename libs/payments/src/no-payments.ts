import { Payments, Problem } from '@svc/contracts';

/** The payments of a deployment without any payment settings. */
export class NoPayments extends Payments {
  constructor(private readonly missing: readonly string[]) {
    super();
  }

  override readonly rails = () => this.refuse();
  override readonly topUp = () => this.refuse();
  override readonly hasSigned = () => this.refuse();
  override readonly list = () => this.refuse();
  override readonly get = () => this.refuse();
  override readonly totals = () => this.refuse();
  override readonly retry = () => this.refuse();
  override readonly resolve = () => this.refuse();
  override readonly audit = () => this.refuse();

  private refuse(): Promise<never> {
    const message = `This deployment does not sell credit: the operator must set ${this.missing.join(', ')}.`;
    return Promise.reject(new Problem('X402_NOT_CONFIGURED', { message }));
  }
}
