-- What `personal-info` shows of a person and their wallet.
\set user :first_user + :user_step * random(0, :users - 1)
SELECT users.id, name, email, phone, is_dj, available, fee_upcoming_artist, fee_popular_song, online, played, city,
    state, country, latitude, longitude, radius, email_verified, phone_verified, rating_stars, rating_count
FROM users JOIN wallets ON user_id = users.id WHERE users.id = :user;
