//! The peers in other languages send copies of this crate's data, which must be equal to it.

use domain::Users;

#[test]
fn the_users_of_the_go_peers_are_the_first_hundred() {
    let text = include_str!("../../servers/peers/go/users/users.json");
    let copied: Users<'_> = serde_json::from_str(text).expect("users.json is a list of users");
    let ours = domain::users(100).expect("100 users may be listed");
    assert_eq!(copied.users.len(), 100);
    assert!(
        copied.users == ours.users,
        "users.json differs from the users of this crate"
    );
}

/// `upload.txt` is a gRPC frame with one field of bytes (tag 10), so that HTTP and gRPC servers take the same file.
#[test]
fn the_upload_of_the_peers_is_one_framed_message() {
    let file = include_bytes!("../../servers/peers/upload.txt");
    let (prefix, message) = file.split_at(5);
    let length = u32::try_from(message.len()).expect("about 1 MiB");
    assert_eq!((prefix[0], &prefix[1..]), (0, &length.to_be_bytes()[..]));
    let (head, content) = message.split_at(4);
    let written = usize::from(head[1] & 0x7f) | usize::from(head[2] & 0x7f) << 7 | usize::from(head[3]) << 14;
    assert_eq!((head[0], written), (10, content.len()));
}
