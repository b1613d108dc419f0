import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A mail as its server got it. */
interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly source: string;
}

/** A mail server that keeps what it gets, without TLS unless the options have it. */
export class Mailbox {
  readonly mails: ReceivedMail[] = [];
  private server: SMTPServer;

  private constructor(options: SMTPServerOptions) {
    this.server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      disableReverseLookup: true,
      logger: false,
      onData: (stream, { envelope }, done) => {
        let source = '';
        stream.setEncoding('utf8');
        stream.on('data', (chunk: string) => {
          source += chunk;
        });
        stream.on('end', () => {
          const { mailFrom, rcptTo } = envelope;
          const from = mailFrom === false ? '' : mailFrom.address;
          this.mails.push({ from, to: rcptTo.map(({ address }) => address), source });
          done();
        });
      },
      ...options,
    });
    // Clients that give up are part of tests.
    this.server.on('error', () => undefined);
  }

  static async start(options: SMTPServerOptions = {}, port = 0): Promise<Mailbox> {
    const mailbox = new Mailbox(options);
    mailbox.server.listen(port, '127.0.0.1');
    await once(mailbox.server.server, 'listening');
    return mailbox;
  }

  get port(): number {
    return (this.server.server.address() as AddressInfo).port;
  }

  get connections(): number {
    return this.server.connections.size;
  }

  /** The lines of a mail's text, with what quoted-printable has broken joined again. */
  texts(): string[] {
    return this.mails.map(({ source }) => source.replaceAll('=\r\n', '').replaceAll('\r\n', '\n'));
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
    });
  }
}
