# The first song request of a new deployment, at a price of 0. $1 is the URL of the server.
set -e -o pipefail
API=$1/api/v1
json() { curl -sS --fail-with-body -H 'Content-Type: application/json' "$@"; }
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p"; }

# The server was just started.
json --retry 30 --retry-delay 1 --retry-connrefused "$1/health/ready" >/dev/null
json "$API/auth/login" -d "{\"email\":\"operator@example.com\",\"password\":\"$2\"}" >/dev/null
DJ=$(json "$API/auth/register" -d '{"email":"dee@example.com","password":"correct horse","name":"Dee Jay","is_dj":true}')
GUEST=$(json "$API/auth/register" -d '{"email":"ada@example.com","password":"battery staple","name":"Ada"}')
DJ_ID=$(echo "$DJ" | field id)
DJ="Authorization: Bearer $(echo "$DJ" | field access_token)"
GUEST="Authorization: Bearer $(echo "$GUEST" | field access_token)"
json -X PATCH "$API/user/personal-info" -H "$DJ" \
  -d '{"online":1,"fee_upcoming_artist":0,"fee_popular_song":0}' >/dev/null
SONG='"song_title":"Blue Monday","artist_name":"New Order","artist_type":"popular"'
REQUEST=$(json "$API/music/requests" -H "$GUEST" -d "{\"dj_id\":$DJ_ID,$SONG}" | field id)
json -X PATCH "$API/music/requests-update/$REQUEST" -H "$DJ" -d '{"status":"accepted"}'
