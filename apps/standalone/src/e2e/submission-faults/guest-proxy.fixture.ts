import { linkSync, lstatSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Wire } from './wire.fixture.js';

/** The connection between an agent's host and its guest, with a proxy socket in place of the guest's. */
export class GuestProxy {
  #wire: Wire | undefined;
  #inode: bigint | undefined;
  #opened = 0;

  /** `folder` holds `guest.sock`. */
  constructor(private readonly folder: string) {}

  /** Returns the connection to the guest that owns the socket now. Throws if there is no socket. */
  async open(): Promise<Wire> {
    if (this.#wire !== undefined && this.#inode === this.#inodeOf(SOCKET)) return this.#wire;
    const nth = String(++this.#opened);
    const [real, ours] = [`${OURS}real-${nth}`, `${OURS}own-${nth}`];
    this.#tidy();
    // The guest may listen again at any moment: its socket gets a second name and is then replaced atomically.
    linkSync(this.#path(SOCKET), this.#path(real));
    const wire = await Wire.open({ path: this.#path(real) }, this.#path(ours));
    this.#inode = this.#inodeOf(ours);
    renameSync(this.#path(ours), this.#path(SOCKET));
    void this.#wire?.close();
    this.#wire = wire;
    return wire;
  }

  /** Hides the socket for `forMs`. */
  async hide(forMs: number): Promise<void> {
    // The guest has ended and removed its socket.
    if (this.#inodeOf(SOCKET) === undefined) return;
    renameSync(this.#path(SOCKET), this.#path(HIDDEN));
    await new Promise((resolve) => setTimeout(resolve, forMs));
    // A guest that has started in the meantime keeps its own socket; `open` may have removed the hidden one.
    if (this.#inodeOf(SOCKET) !== undefined || this.#inodeOf(HIDDEN) === undefined) return;
    renameSync(this.#path(HIDDEN), this.#path(SOCKET));
  }

  async close(): Promise<void> {
    await this.#wire?.close();
  }

  #tidy(): void {
    for (const name of readdirSync(this.folder))
      if (name.startsWith(OURS)) rmSync(this.#path(name), { force: true });
  }

  #path(name: string): string {
    return join(this.folder, name);
  }

  #inodeOf(name: string): bigint | undefined {
    return lstatSync(this.#path(name), { bigint: true, throwIfNoEntry: false })?.ino;
  }
}

const SOCKET = 'guest.sock';
/** Prefix of our own socket names. */
const OURS = 'proxy-';
const HIDDEN = `${OURS}hidden`;
