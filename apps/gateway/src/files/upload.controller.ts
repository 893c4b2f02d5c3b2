import { createHash, type Hash } from 'node:crypto';
import { FILE_LIMIT_BYTES, filesRequests, uploadForm } from '@berth/contracts/files';
import type { PutFile } from '@berth/contracts/hosting';
import { Requester } from '@berth/messaging';
import { Controller, Param, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { requireTokenScope } from '../auth/access.js';
import { callerOf, envelopeOf } from '../auth/caller.js';
import { agentOf } from '../agents/agent.resource.js';
import { Route } from '../http/route.decorator.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { IdempotencyClaims } from '../idempotency/idempotency-claims.js';
import { agentReceiver } from './agent-receiver.js';
import { changeErrors } from './file-errors.js';
import type { Received } from './staged-files.js';
import { StagedFiles } from './staged-files.js';
import { expectBody } from './streamed-request.js';
import { REST_LIMIT_BYTES, UploadForm, type UploadedForm } from './upload-form.js';

const MULTIPART = {
  type: /^multipart\/form-data\s*(?:;|$)/i,
  untyped: false,
  typeName: 'multipart/form-data',
  limitBytes: FILE_LIMIT_BYTES + REST_LIMIT_BYTES,
  capBytes: FILE_LIMIT_BYTES,
  missing: [{ path: 'file', message: 'is missing: send one file in a part with this name' }],
};

@ApiTags('Files')
@Controller('api/agents/:agent_id/files')
export class UploadController {
  constructor(
    private readonly requester: Requester,
    private readonly files: StagedFiles,
    private readonly claims: IdempotencyClaims,
  ) {}

  @Route({
    accepts: { key: 'deploy', end_user: 'files' },
    resource: agentOf('agent_id'),
    body: { kind: 'multipart', streamed: true, shape: uploadForm },
    summary: 'Upload a file',
    description:
      'Wakes a sleeping agent. With `dest_dir` the file is stored in exactly that folder, which is created if missing; an existing file with the same name is replaced atomically. If `dest_dir` is absent or empty, the file is an attachment: it is stored in `<root>/inbox` under an unused name and announced to the agent in its current conversation, together with `message`. Up to 104,857,600 bytes; an interrupted upload leaves no file. Parts may come in any order. A token of an end user needs `chat` too for an attachment.',
    responses: [{ status: 200, description: 'The stored file.', schema: 'UploadedFile' }],
    errors: changeErrors([
      'not_a_directory',
      'volume_root',
      'path_exists',
      'too_many_transfers',
      'volume_full',
      'transfer_lost',
    ]),
  })
  @Post('upload')
  async upload(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Res() reply: ApiReply,
  ): Promise<void> {
    expectBody(request, MULTIPART);
    const digest = request.headers['idempotency-key'] === undefined ? undefined : createHash('sha256');
    const file = await this.files.receive(
      request,
      agentReceiver(this.requester, request, agentId),
      (staging) =>
        new UploadForm(request.declaredType ?? '', {
          begin: () => staging.begin(),
          write: (bytes, isLast) => {
            digest?.update(bytes);
            return staging.write(bytes, isLast);
          },
        }),
      async (received) => {
        if (folderOf(received.read) === undefined) requireTokenScope(callerOf(request), 'chat');
        const isClaimed =
          digest === undefined ||
          (await this.claims.claimOrReplay(request, reply, digestOf(received.read, digest)));
        return isClaimed ? this.#put(request, agentId, received) : undefined;
      },
    );
    if (file !== undefined) await reply.send({ ok: true, path: file.path, name: file.name, size: file.size });
  }

  #put(request: ApiRequest, agentId: string, { read, staged }: Received<UploadedForm>): Promise<PutFile> {
    const put = { ...envelopeOf(request), agentId, staged };
    const { name, fields } = read;
    const folder = folderOf(read);
    if (folder !== undefined) {
      return this.requester.request(filesRequests.put, { ...put, target: { kind: 'folder', folder, name } });
    }
    const message = lastOf(fields, 'message') ?? null;
    return this.requester.request(filesRequests.putAttachment, { ...put, name, message });
  }
}

const folderOf = ({ fields }: UploadedForm): string | undefined => lastOf(fields, 'dest_dir');

/** An empty field counts as absent. */
const lastOf = (fields: UploadedForm['fields'], name: string): string | undefined => {
  const value = fields.findLast(([field]) => field === name)?.[1];
  return value === '' ? undefined : value;
};

/** The order of parts and their framing do not change the digest. */
const digestOf = ({ name, fields }: UploadedForm, file: Hash): string => {
  const sorted = fields.toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return createHash('sha256')
    .update(JSON.stringify([sorted, name, file.digest('hex')]))
    .digest('hex');
};
