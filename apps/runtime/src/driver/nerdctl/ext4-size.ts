import { open } from 'node:fs/promises';

// The superblock of ext4 and the offsets of its members (Linux, Documentation/filesystems/ext4/super.rst).
const SUPERBLOCK = 1_024;
const BYTES = 1_024;
const BLOCKS_LOW = 0x4;
const LOG_BLOCK_SIZE = 0x18;
const BLOCKS_PER_GROUP = 0x20;
const BLOCKS_HIGH = 0x150;

/** mke2fs and resize2fs leave out a last block group that is so small that it would hold little but its own tables. */
const PART_OF_GROUP_LEFT_OUT = 1 / 16;

/**
 * Whether a file system in `file` could be larger in a file of that many bytes: the file has grown, or is to, but not
 * what is in it.
 */
export const isSmallerThan = async (file: string, bytes: number): Promise<boolean> => {
  const superblock = await readSuperblock(file);
  const blocks = superblock.readUInt32LE(BLOCKS_LOW) + superblock.readUInt32LE(BLOCKS_HIGH) * 2 ** 32;
  const blockSize = 1_024 * 2 ** superblock.readUInt32LE(LOG_BLOCK_SIZE);
  const missing = Math.floor(bytes / blockSize) - blocks;
  return missing > superblock.readUInt32LE(BLOCKS_PER_GROUP) * PART_OF_GROUP_LEFT_OUT;
};

const readSuperblock = async (file: string): Promise<Buffer> => {
  const handle = await open(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(BYTES), 0, BYTES, SUPERBLOCK);
    return buffer;
  } finally {
    await handle.close();
  }
};
