import type { GatewaySettings } from '@svc/paid';
import { StartFault } from '@svc/runtime';
import { createTransport } from 'nodemailer';

const TIMEOUT_MS = 15_000;

/** The mail server of the operator. */
export interface MailServerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: GatewaySettings['config']['GATEWAY_SMTP_TLS'];
  readonly from: string;
  readonly login: { readonly user: string; readonly pass: string } | undefined;
  /** How long sending one mail may take. */
  readonly timeoutMs?: number;
}

/** A mail to one address. Subject and text have no untrusted line breaks. */
export interface OutgoingMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same if the mail is sent again. */
  readonly id: string;
}

/** Why a mail was not accepted. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';

  /** With the status of the server's reply, if there was one. */
  constructor(
    message: string,
    readonly status: number | null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Throws if only a part is set. */
export function mailServerIn(config: GatewaySettings['config']): MailServerOptions | undefined {
  const { GATEWAY_SMTP_HOST: host, GATEWAY_SMTP_FROM: from } = config;
  const { GATEWAY_SMTP_USER: user, GATEWAY_SMTP_PASSWORD: pass } = config;
  if (host === undefined) return undefined;
  if (from === undefined) throw new StartFault('GATEWAY_SMTP_HOST needs GATEWAY_SMTP_FROM.');
  if ((user === undefined) !== (pass === undefined))
    throw new StartFault('GATEWAY_SMTP_USER and GATEWAY_SMTP_PASSWORD need each other.');
  const login = user === undefined || pass === undefined ? undefined : { user, pass };
  return { host, port: config.GATEWAY_SMTP_PORT, tls: config.GATEWAY_SMTP_TLS, from, login };
}

/** Hands mails to the operator's server, one connection each. */
export class MailServer {
  constructor(private readonly options: MailServerOptions | undefined) {}

  get isConfigured(): boolean {
    return this.options !== undefined;
  }

  /** Resolves once the server has taken responsibility for the mail. Rejects: MailRefused. */
  async send({ to, subject, text, id }: OutgoingMail, stopping: AbortSignal): Promise<void> {
    const { options } = this;
    if (!options) throw new MailRefused('This deployment sends no e-mail.', null);
    const deadline = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS);
    const transport = createTransport({
      host: options.host,
      port: options.port,
      secure: options.tls === 'tls',
      requireTLS: options.tls === 'starttls',
      ignoreTLS: options.tls === 'off',
      auth: options.login,
      // The connection is destroyed at once, in whatever state a slow server has left it.
      socketCloseTimeout: 0,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      await transport.sendMail({
        from: { name: '', address: options.from },
        to: { name: '', address: to },
        subject,
        text,
        messageId: `<${id}@${options.from.slice(options.from.lastIndexOf('@') + 1)}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
        signal: AbortSignal.any([stopping, deadline]),
      });
    } catch (error) {
      throw refusalOf(error, deadline.aborted);
    }
  }
}

/** Texts of the server may contain anything, so customers see only its status. */
function refusalOf(error: unknown, isLate: boolean): MailRefused {
  const { responseCode } = error as { responseCode?: unknown };
  const status = typeof responseCode === 'number' ? responseCode : null;
  if (status !== null)
    return new MailRefused(`The mail server replied with ${status}.`, status, { cause: error });
  const message = isLate ? 'The mail server did not reply in time.' : 'The mail server could not be reached.';
  return new MailRefused(message, null, { cause: error });
}
