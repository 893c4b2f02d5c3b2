import { computersRequests } from '@berth/contracts/computers';
import {
  FILE_LIMIT_BYTES,
  listFilesQuery,
  pathQuery,
  type ListFilesQuery,
  type PathQuery,
} from '@berth/contracts/files';
import { Requester } from '@berth/messaging';
import { hasBody } from '@berth/sockets';
import { Controller, Get, Param, Put, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { envelopeOf } from '../auth/caller.js';
import { FileResponses } from '../files/file-responses.js';
import { ownsBuffer } from '../files/outgoing-bytes.js';
import { StagedFiles, type StageReader } from '../files/staged-files.js';
import { expectBody } from '../files/streamed-request.js';
import type { UploadStaging } from '../files/upload-staging.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';
import { aboutComputer, fileErrors } from './computer-errors.js';
import { computer } from './computer.resource.js';

/** A file on a computer, after it was written. */
interface WrittenComputerFile {
  readonly ok: true;
  readonly path: string;
  readonly name: string;
  readonly size: number;
}

const ANY_BYTES = {
  type: /^/,
  untyped: true,
  typeName: 'any type',
  limitBytes: FILE_LIMIT_BYTES,
  capBytes: FILE_LIMIT_BYTES,
  missing: [],
};

@ApiTags('Computers')
@Controller('api/v1/computers/:computer_id/files')
export class ComputerFilesController {
  constructor(
    private readonly requester: Requester,
    private readonly responses: FileResponses,
    private readonly files: StagedFiles,
  ) {}

  @Route({
    accepts: { key: 'computers' },
    resource: computer,
    query: listFilesQuery,
    summary: 'List a folder of a computer',
    description:
      'Wakes a sleeping computer. Sorted by name; links are listed and not followed. `root` is the home folder.',
    responses: [{ status: 200, description: 'The entries of the folder.', schema: 'FileList' }],
    errors: fileErrors(['not_a_directory', 'not_readable', 'path_not_found']),
  })
  @Get('list')
  async list(
    @Req() request: ApiRequest,
    @Param('computer_id') computerId: string,
    @Query() { path = '' }: ListFilesQuery,
    @Res() reply: ApiReply,
  ): Promise<void> {
    const folder = path === '' ? null : path;
    const open = (refusedEpoch: number | null) =>
      this.requester.request(computersRequests.openList, {
        ...envelopeOf(request),
        computerId,
        path: folder,
        refusedEpoch,
      });
    await aboutComputer(this.responses.sendList(reply, open));
  }

  @Route({
    accepts: { key: 'computers' },
    resource: computer,
    query: pathQuery,
    summary: 'Read a file of a computer',
    description:
      'Wakes a sleeping computer. Serves regular files of the home folder of at most 104,857,600 bytes. Supports `Range`, `If-Range` and `If-None-Match`; the content type derives from the file name. If the transfer fails midway, the connection is closed.',
    responses: [
      { status: 200, description: 'The file.', binary: true },
      { status: 206, description: 'The requested range.', binary: true },
      { status: 304, description: 'Unchanged since `If-None-Match`.' },
    ],
    errors: fileErrors([
      'is_a_directory',
      'not_a_file',
      'not_readable',
      'path_not_found',
      'payload_too_large',
      'range_not_satisfiable',
    ]),
  })
  @Get()
  async read(
    @Req() request: ApiRequest,
    @Param('computer_id') computerId: string,
    @Query() { path }: PathQuery,
    @Res() reply: ApiReply,
  ): Promise<void> {
    const open = (refusedEpoch: number | null) =>
      this.requester.request(computersRequests.openDownload, {
        ...envelopeOf(request),
        computerId,
        path,
        refusedEpoch,
      });
    await aboutComputer(this.responses.sendFile(request, reply, path, open));
  }

  @Route({
    accepts: { key: 'computers' },
    resource: computer,
    query: pathQuery,
    body: { kind: 'raw', streamed: true },
    summary: 'Write a file of a computer',
    description:
      'Wakes a sleeping computer. The body is the content, up to 104,857,600 bytes. Creates missing parent folders and replaces a file atomically: readers see the old content or the new, and an interrupted request leaves no file.',
    responses: [{ status: 200, description: 'Written.', schema: 'UploadedFile' }],
    errors: fileErrors([
      'not_a_directory',
      'not_permitted',
      'path_exists',
      'transfer_lost',
      'volume_full',
      'volume_root',
    ]),
  })
  @Put()
  async write(
    @Req() request: ApiRequest,
    @Param('computer_id') computerId: string,
    @Query() { path }: PathQuery,
  ): Promise<WrittenComputerFile> {
    if (hasBody(request.raw)) expectBody(request, ANY_BYTES);
    const envelope = envelopeOf(request);
    const receiver = {
      id: computerId,
      openStage: (refusedEpoch: number | null) =>
        this.requester.request(computersRequests.openStage, { ...envelope, computerId, path, refusedEpoch }),
    };
    const received = this.files.receive(request, receiver, readBytes, ({ staged }) =>
      this.requester.request(computersRequests.put, { ...envelope, computerId, staged, path }),
    );
    const file = await aboutComputer(received);
    if (file === undefined) throw new Error('A write was neither done nor refused.');
    return { ok: true, path: file.path, name: file.name, size: file.size };
  }
}

const readBytes = (staging: UploadStaging): StageReader<undefined> => {
  let hasBegun = false;
  return {
    push: (chunk) => {
      if (!hasBegun) staging.begin();
      hasBegun = true;
      return staging.write(chunk, ownsBuffer(chunk));
    },
    finish: () => undefined,
  };
};
