import { once } from 'node:events';
import { type IncomingMessage, createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';

/** An HTTP proxy that makes tunnels to ports of this machine, whatever the name of the host. */
export class TunnelProxy {
  /** The targets of its tunnels. */
  readonly tunnels: string[] = [];
  isRefusing = false;
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((_request, response) => void response.writeHead(405).end());

  private constructor(private readonly password: string) {
    this.server.on('connection', (socket) => this.sockets.add(socket));
    this.server.on('connect', (request: IncomingMessage, socket: Socket) => {
      this.tunnels.push(String(request.url));
      const given = Buffer.from(request.headers['proxy-authorization']?.split(' ')[1] ?? '', 'base64');
      if (this.isRefusing || given.toString() !== `operator:${this.password}`) {
        socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
        return;
      }
      const target = connect(Number(new URL(`http://${request.url}`).port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        target.pipe(socket).pipe(target);
      });
      target.on('error', () => socket.resetAndDestroy());
      socket.on('error', () => target.resetAndDestroy());
    });
  }

  /** With the password that its clients need. */
  static async start(password: string): Promise<TunnelProxy> {
    const proxy = new TunnelProxy(password);
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  /** With the name of its user and the password. */
  get url(): string {
    return `http://operator:${this.password}@127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Ends the tunnels too. */
  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}
