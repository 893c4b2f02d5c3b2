import { describe, expect, it } from 'vitest';
import { resolveUser } from './image-user.js';

const files = {
  passwd: 'root:x:0:0:root:/root:/bin/sh\napp:x:101:102::/app:/bin/false\nfar:x:70000:70000::/:/bin/sh\n',
  group: 'root:x:0:\napp:x:102:\nstaff:x:50:app,other\nother:x:51:other\n',
};

describe('the user that an image names', () => {
  it.each([
    ['app', { uid: 101, gid: 102, groups: [50] }],
    ['101', { uid: 101, gid: 102, groups: [50] }],
    ['app:staff', { uid: 101, gid: 50, groups: [] }],
    ['app:7', { uid: 101, gid: 7, groups: [] }],
    ['1234', { uid: 1234, gid: 0, groups: [] }],
    ['1234:staff', { uid: 1234, gid: 50, groups: [] }],
    ['root', { uid: 0, gid: 0, groups: [] }],
  ])('%s has the ids that the image gives it', (user, ids) => {
    expect(resolveUser(user, files)).toEqual(ids);
  });

  it.each(['nobody-knows', 'app:nobody-knows', 'far', '70000', '1:70000', '-1'])('%s is unknown', (user) => {
    expect(resolveUser(user, files)).toBeUndefined();
  });

  it('may be a number in an image without any users', () => {
    const none = { passwd: '', group: '' };
    expect(resolveUser('65', none)).toEqual({ uid: 65, gid: 0, groups: [] });
    expect(resolveUser('app', none)).toBeUndefined();
  });
});
