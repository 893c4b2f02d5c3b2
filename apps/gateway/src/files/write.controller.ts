import { FILE_LIMIT_BYTES, filesRequests, writeBody, type WriteBody } from '@berth/contracts/files';
import { JSON_BODY_LIMIT } from '@berth/contracts/schema';
import { Requester } from '@berth/messaging';
import { Controller, Param, Put, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { envelopeOf } from '../auth/caller.js';
import { agentOf } from '../agents/agent.resource.js';
import { Route } from '../http/route.decorator.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { invalidRequest } from '../http/http-refusal.js';
import { JSON_TYPE } from '../http/json-body.js';
import { Validator } from '../validation/validator.js';
import { agentReceiver } from './agent-receiver.js';
import { ContentBody } from './content-body.js';
import { changeErrors } from './file-errors.js';
import { StagedFiles, type StageReader } from './staged-files.js';
import type { UploadStaging } from './upload-staging.js';
import { expectBody } from './streamed-request.js';

/** A JSON escape takes up to six bytes for one byte of the text. */
const MAX_BODY_BYTES = 6 * FILE_LIMIT_BYTES + JSON_BODY_LIMIT;

const JSON_TEXT = {
  type: JSON_TYPE,
  untyped: true,
  typeName: 'application/json',
  limitBytes: MAX_BODY_BYTES,
  capBytes: FILE_LIMIT_BYTES,
  missing: [
    { path: 'path', message: 'must be a path' },
    { path: 'content', message: 'must be a string' },
  ],
};

@ApiTags('Files')
@Controller('api/agents/:agent_id/files')
export class WriteController {
  constructor(
    private readonly requester: Requester,
    private readonly files: StagedFiles,
  ) {}

  @Route({
    accepts: { key: 'deploy', end_user: 'files' },
    resource: agentOf('agent_id'),
    body: { kind: 'json', streamed: true, shape: writeBody },
    summary: 'Write a text file',
    description:
      'Wakes a sleeping agent. Creates missing parent folders and replaces a file atomically: readers see the old content or the new. All members except `content` together are at most 1 MiB; `content` must occur only once.',
    responses: [{ status: 200, description: 'Written.', schema: 'WrittenFile' }],
    errors: changeErrors([
      'not_a_directory',
      'volume_root',
      'path_exists',
      'too_many_transfers',
      'volume_full',
      'transfer_lost',
    ]),
  })
  @Put('write')
  async write(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
  ): Promise<{ readonly ok: true; readonly path: string; readonly size: number }> {
    expectBody(request, JSON_TEXT);
    const file = await this.files.receive(
      request,
      agentReceiver(this.requester, request, agentId),
      readContent,
      ({ read: { path }, staged }) =>
        this.requester.request(filesRequests.put, {
          ...envelopeOf(request),
          agentId,
          staged,
          target: { kind: 'path', path },
        }),
    );
    if (file === undefined) throw new Error('A write was neither done nor refused.');
    return { ok: true, path: file.path, size: file.size };
  }
}

const readContent = (staging: UploadStaging): StageReader<WriteBody> => {
  let room: Promise<void> | undefined;
  const body = new ContentBody({
    begin: () => staging.begin(),
    write: (text, isLast) => {
      room = staging.write(text, isLast) ?? room;
    },
  });
  return {
    push: (chunk) => {
      room = undefined;
      body.push(chunk);
      return room;
    },
    finish: () => {
      const { value, problems } = Validator.for(writeBody).validateBody(body.finish());
      if (problems.length > 0) throw invalidRequest(problems);
      return value as WriteBody;
    },
  };
};
