import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { ActionsAnswer, ComputerView } from '@berth/contracts/computers';
import { eventually } from '@berth/testing';
import WebSocket from 'ws';
import type { Api, ApiResponse } from './api.fixture.js';
import type { Stack } from './stack.fixture.js';

export interface Executed {
  readonly status: string;
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** One computer over HTTP. */
export class Computer {
  private constructor(
    private readonly api: Api,
    private readonly stack: () => Stack,
    readonly id: string,
  ) {}

  /** Creates a computer and returns it once it runs. */
  static async create(api: Api, stack: () => Stack, body: object = {}): Promise<Computer> {
    const created = await api.post<ComputerView>('/api/v1/computers', body);
    if (created.status !== 201)
      throw new Error(`The create returned ${created.status}: ${JSON.stringify(created.body)}`);
    const computer = new Computer(api, stack, created.body.id);
    await computer.inStatus('running');
    return computer;
  }

  get path(): string {
    return `/api/v1/computers/${this.id}`;
  }

  async inStatus(status: ComputerView['status'], timeoutMs = 60_000): Promise<ComputerView> {
    return eventually(
      async () => {
        const { body } = await this.api.get<ComputerView>(this.path);
        if (body.status !== status) throw new Error(`Not ${status}, but ${JSON.stringify(body)}`);
        return body;
      },
      { timeoutMs },
    );
  }

  act(...actions: readonly object[]): Promise<ApiResponse<ActionsAnswer>> {
    return this.api.post<ActionsAnswer>(`${this.path}/actions`, { actions });
  }

  /** Runs a command, which must succeed. */
  async run(command: string): Promise<string> {
    const { status, body } = await this.api.post<Executed>(`${this.path}/exec`, { command });
    if (status !== 200 || body.exitCode !== 0) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body.stdout;
  }

  async bytes(path: string, init: RequestInit = {}): Promise<{ status: number; type: string; body: Buffer }> {
    const { urls, key } = this.stack();
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${urls[0]}${this.path}${path}`, { ...init, headers });
    const type = response.headers.get('content-type') ?? '';
    return { status: response.status, type, body: Buffer.from(await response.arrayBuffer()) };
  }

  /** Opens a terminal that runs the command and has the focus. It covers the point 200, 200. */
  async openTerminal(command: string): Promise<void> {
    await this.run(
      `setsid xterm -geometry 80x24+100+100 -e sh -c '${command}' > /dev/null 2>&1 &
       until xprop -root _NET_ACTIVE_WINDOW | grep -q '# 0x0*[1-9a-f]'; do sleep 0.05; done`,
    );
  }

  /** The content of a file once it is there and not empty. */
  wrote(path: string): Promise<string> {
    return eventually(async () => {
      const { status, body } = await this.bytes(`/files?path=${encodeURIComponent(path)}`);
      if (status !== 200 || body.length === 0) throw new Error(`${path}: ${status}`);
      return body.toString();
    });
  }
}

/** Width and height of a PNG. */
export const sizeOfPng = (png: Buffer): { readonly width: number; readonly height: number } => {
  if (png.toString('latin1', 1, 4) !== 'PNG') throw new Error(`No PNG: ${png.toString('latin1', 0, 200)}`);
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) };
};

/** The status with which a server refuses the upgrade, and its `detail.code`. */
export const refusalOf = async (
  url: string,
): Promise<{ readonly status: number; readonly code: unknown }> => {
  const socket = new WebSocket(url, 'binary');
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  const body = JSON.parse((await buffer(response)).toString()) as { detail: { code: unknown } };
  return { status: response.statusCode ?? 0, code: body.detail.code };
};
